"""Values that frameworks hand over: subclasses of str and int, calls without an id."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

import pytest

from harness import InboxItem, Run, Scenario, ToolScript, ToolTurn, Turn, run
from harness.core.history.history import decode, encode
from harness.core.values.brief import Tool
from harness.core.values.calls import ToolRequest
from harness.core.values.messages import Message, Text, digest

TOOLS = {"note": ToolScript(script=(ToolTurn(ok="noted", times="forever"),))}
NOTES = {"type": "tool_use", "name": "note"}
TWO_NOTES = Turn(
    blocks=(
        {**NOTES, "id": "toolu_a", "input": {"text": "a"}},
        {**NOTES, "id": "toolu_b", "input": {"text": "b"}},
    )
)


class Accessor(str):
    """Text that may also be called, as a framework's message has it."""

    def __call__(self) -> str:
        return str(self)


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


def played(agent: Any) -> Run:
    inbox = (InboxItem(id="m1", text="Note it."),)
    script = (TWO_NOTES, Turn(say="Done.", times="forever"))
    return run(Scenario(name="values", inbox=inbox, tools=TOOLS, script=script), agent)


def requests(result: Run, seam: str) -> list[Any]:
    return [e.request for e in result.history.events if getattr(e, "seam", "") == seam
            and hasattr(e, "request")]  # fmt: skip


def ask(brief: Any, **more: Any) -> None:
    messages = [{"role": "user", "content": "Note it."}]
    brief.anthropic().messages.create(model="m", max_tokens=9, messages=messages, **more)


NOTE = {"name": "note", "input_schema": {"type": "object"}}


def test_a_subclass_of_str_is_a_string_wherever_an_agent_may_say_one() -> None:
    def agent(brief: Any) -> None:
        [note] = brief.tools
        for inbound in brief.inbox():
            brief.store.accept(inbound, Message("user", (Text(Accessor(inbound.text)),)))
            ask(brief)
            note.call({Accessor("text"): Accessor("a"), "of": [Colour.RED, Size.LARGE]}, id="x")
            brief.cancelled(Accessor("main"))
            brief.send(Accessor("Done."), in_reply_to=Accessor(inbound.id), status=Accessor("ok"))

    result = played(agent)
    assert decode(encode(result.history.events)).events == result.history.events
    [said] = requests(result, "outbox")
    assert (type(said.text), said.text, said.in_reply_to) == (str, "Done.", "m1")
    [noted] = requests(result, "tool")
    assert noted.input == {"text": "a", "of": ["red", 3]}
    assert "target.crashed" not in {f.code for f in result.verdict.findings}


@pytest.mark.parametrize(
    ("said", "words"),
    [((None,), "not NoneType"), (("Done.", "finale"), "did you mean 'final'"), ((3,), "not int")],
)
def test_what_is_no_text_or_no_kind_is_the_targets_mistake(said: Any, words: str) -> None:
    def agent(brief: Any) -> None:
        ask(brief)
        brief.send(*said)

    [crash] = [f for f in played(agent).verdict.findings if f.code == "target.crashed"]
    assert "brief.send: " in crash.message
    assert words in crash.message


def test_an_input_that_is_no_json_is_the_targets_mistake() -> None:
    def agent(brief: Any) -> None:
        ask(brief)
        brief.tools[0].call({"text": object()}, id="x")

    [crash] = [f for f in played(agent).verdict.findings if f.code == "target.crashed"]
    assert "object is not a JSON value" in crash.message


def called(note: Tool) -> None:
    note.call({"text": "b"})
    note.call({"text": "changed on the way"})
    note.call({"text": "one more"}, id="")


def test_a_call_without_an_id_is_the_call_of_the_model_that_is_meant() -> None:
    def agent(brief: Any) -> None:
        for _ in brief.inbox():
            ask(brief, tools=[NOTE])
            called(brief.tools[0])

    ran: list[ToolRequest] = requests(played(agent), "tool")
    assert [request.id for request in ran] == ["toolu_b", "toolu_a", "call_3"]


def test_calls_of_one_id_and_no_told_id_run_with_their_own_inputs() -> None:
    twice = [
        {"type": "tool_use", "id": f"t_{text}", "name": "note", "input": {"text": text}}
        for text in "aabb"
    ]
    scenario = Scenario(
        name="twice",
        tools={"note": ToolScript(script=(ToolTurn(ok="noted", times="forever"),))},
        inbox=(InboxItem(text="go"),),
        script=(Turn(blocks=tuple(twice)),),
    )

    def agent(brief: Any) -> None:
        for _ in brief.inbox():
            ask(brief, tools=[NOTE])
            for text in "aabb":
                brief.tools[0].call({"text": text})

    ran: list[ToolRequest] = requests(run(scenario, agent), "tool")
    assert [request.id for request in ran] == ["t_a", "t_a", "t_b", "t_b"]


def test_a_call_with_a_time_limit_ends_at_it() -> None:
    slow = {"note": ToolScript(script=(ToolTurn(hang=60, ok="noted"),))}
    met: list[str] = []

    def agent(brief: Any) -> None:
        with pytest.raises(TimeoutError):
            brief.tools[0].call({}, timeout_s=5)
        met.append(f"{brief.clock.now_ms()} ms")

    run(Scenario(name="slow", tools=slow, script=(Turn(say="x"),)), agent)
    assert met == ["5000 ms"]


def test_a_value_of_a_subclass_has_the_digest_of_the_plain_one() -> None:
    assert digest({"text": Accessor("a")}) == digest({"text": "a"})


@pytest.mark.parametrize("value", [{"a": 1}, {"x"}, 3, b"x"])
@pytest.mark.parametrize("where", ["the id", "the session", "the in_reply_to", "the status"])
def test_an_id_that_is_not_text_is_the_targets_mistake(value: Any, where: str) -> None:
    def agent(brief: Any) -> None:
        ask(brief)
        if where == "the id":
            brief.tools[0].call({}, id=value)
        brief.send("Done.", **{where.removeprefix("the "): value})

    result = played(agent)
    [crash] = [f for f in result.verdict.findings if f.code == "target.crashed"]
    assert f"{where} is a str, not {type(value).__name__}" in crash.message
    assert decode(encode(result.history.events)).events == result.history.events


def test_a_key_that_is_no_text_is_the_text_that_json_makes_of_it() -> None:
    def agent(brief: Any) -> None:
        ask(brief)
        brief.tools[0].call({1: "a", None: True, 2.5: {False: "b"}}, id="x")

    [noted] = requests(played(agent), "tool")
    assert noted.input == {"1": "a", "null": True, "2.5": {"false": "b"}}


def test_a_key_that_json_has_no_text_for_is_the_targets_mistake() -> None:
    def agent(brief: Any) -> None:
        ask(brief)
        brief.tools[0].call({(1, 2): "a"}, id="x")

    [crash] = [f for f in played(agent).verdict.findings if f.code == "target.crashed"]
    assert "tuple cannot be a key of a JSON object" in crash.message


class LazyText(str):
    """A text whose methods raise."""

    def split(self, *_: Any) -> Any:
        raise ValueError("no")


@pytest.mark.parametrize("raised", [SystemExit, GeneratorExit, MemoryError, RecursionError, None])
def test_an_error_whose_text_raises_anything_is_a_crash(raised: type[BaseException] | None) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            if raised is None:
                return LazyText("lazily said")
            raise raised

    def agent(brief: Any) -> None:
        ask(brief)
        raise Odd

    [crash] = [f for f in played(agent).verdict.findings if f.code == "target.crashed"]
    assert ("lazily said" if raised is None else "its text raises, too") in crash.message
