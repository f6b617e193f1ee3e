"""A cassette as a scenario: the recording's own inbox and tools, and the cassette as the model."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest

from harness.cassettes.cassette_scenario import kebab, scenario_of_cassette
from harness.cassettes.request_index import CassetteIndex
from harness.core.scenario.scenario import CassetteScript, Scenario, ToolTurn
from tests.cassettes.recorded import ASK, cassette, interaction, said
from tests.recordings.imports import exchanges_in

TOOLS = [
    {"name": "roll", "description": "Roll a die", "input_schema": {"type": "object"}},
    {"name": "never", "input_schema": {"type": "object"}},
]


def _made(*requests: dict[str, Any], stream: bool = False) -> Scenario:
    items = [interaction({**ASK, "stream": stream, **request}, said("x")) for request in requests]
    index = CassetteIndex(exchanges_in(cassette(*items)))
    return scenario_of_cassette(index, PurePath("some/My Run.v1.yaml"), "anthropic")


def _user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def _use(id: str, name: str = "roll") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": {}}


def _result(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def _conversation() -> list[dict[str, Any]]:
    """The requests of two questions, with a batch of two calls between."""
    first = [_user("roll twice")]
    batch = [_assistant(_use("a"), _use("b"))]
    results = [_user([_result("b", "torn", is_error=True), _result("a", "six")])]
    second = [_assistant({"type": "text", "text": "done"}), _user("again")]
    lists = [first, first + batch + results, first + batch + results + second]
    return [{"tools": TOOLS, "messages": messages} for messages in lists]


def test_the_user_and_the_tools_say_what_was_recorded() -> None:
    made = _made(*_conversation())
    assert [item.text for item in made.inbox] == ["roll twice", "again"]
    assert made.session.messages == ()
    assert made.tools["roll"].script == (ToolTurn(ok="six"), ToolTurn(error="torn"))
    assert made.tools["roll"].description == "Roll a die"
    assert made.tools["never"].script == ()
    assert made.script == CassetteScript(cassette="some/My Run.v1.yaml")
    assert (made.name, made.run_name) == ("my-run", "my-run")


def test_what_was_there_before_the_first_question_is_stored() -> None:
    told = {"type": "text", "text": "hello"}
    made = _made({"messages": [_user("hi"), _assistant(told, told), _user("roll")]})
    assert [item.text for item in made.inbox] == ["roll"]
    user, assistant = made.session.messages
    assert (user.role, user.content) == ("user", "hi")
    assert (assistant.role, assistant.content) == ("assistant", (told, told))


def test_a_retry_asks_nothing_new() -> None:
    requests = _conversation()
    made = _made(requests[0], requests[0], *requests)
    assert [item.text for item in made.inbox] == ["roll twice", "again"]


def test_a_question_asked_anew_with_more_behind_it_brought_what_is_behind() -> None:
    hello = [_user("hi"), _assistant({"type": "text", "text": "hello"})]
    lists = [[_user("hi")], [*hello, _user("one")], [*hello, _user("one\n\ntwo")]]
    made = _made(*({"messages": messages} for messages in lists))
    assert [item.text for item in made.inbox] == ["hi", "one", "two"]


def test_each_of_several_questions_behind_each_other_is_asked_once() -> None:
    lists = [[_user("one")], [_user("one\n\ntwo")], [_user("one\n\ntwo\n\nthree")]]
    made = _made(*({"messages": messages} for messages in lists))
    assert [item.text for item in made.inbox] == ["one", "two", "three"]


def test_a_compaction_and_what_follows_it_are_nobodys_questions() -> None:
    long = "Please plan four days in Oslo in the spring, with ships and the fort.\n"
    told = {"type": "text", "text": "Four days it is: the ships first, the fort at the end."}
    summary = "The user wants four days in Oslo; ships and fort are planned already."
    lists = [
        [_user("hi"), _assistant(told), _user(long)],
        [_user(f"Summarise.\n\nuser: hi\nassistant: {told['text'][:50]}\n{told['text']}")],
        [_user(f"Summary: {summary}"), _assistant(told), _user(long)],
    ]
    answers = ["too long", summary, "planned"]
    items = [
        interaction({**ASK, "messages": messages}, said(answer))
        for messages, answer in zip(lists, answers, strict=True)
    ]
    made = scenario_of_cassette(
        CassetteIndex(exchanges_in(cassette(*items))), PurePath("x.yaml"), "anthropic"
    )
    assert [item.text for item in made.inbox] == [long]
    assert [message.content for message in made.session.messages] == ["hi", told["text"]]


def test_a_request_of_the_agents_own_is_nobodys_question() -> None:
    made = _made(*_conversation(), {"messages": [_user("Summarise: roll twice, done")]})
    assert [item.text for item in made.inbox] == ["roll twice", "again"]


def test_requests_that_have_nothing_to_do_with_each_other_are_questions_of_their_own() -> None:
    made = _made({"messages": [_user("one")]}, {"messages": [_user("two")]})
    assert [item.text for item in made.inbox] == ["one", "two"]


def test_limits_leave_room_for_what_was_recorded() -> None:
    requests = [{"messages": [_user(f"question {n}")]} for n in range(120)]
    made = _made(*requests, stream=True)
    assert made.limits.model_calls > 120
    assert made.stream
    assert made.run_name == "my-run+stream"


@pytest.mark.parametrize(
    ("text", "name"),
    [("My Run_v2", "my-run-v2"), ("a--b", "a-b"), ("é", "cassette"), ("A" * 200, "a" * 80)],
)
def test_names_are_in_kebab_case(text: str, name: str) -> None:
    found = kebab(text)
    assert found == name or (found.startswith(f"{name}-") and len(found) == 89)


def test_long_names_that_differ_at_their_end_stay_apart() -> None:
    assert kebab("a" * 200 + "b") != kebab("a" * 200 + "c")
