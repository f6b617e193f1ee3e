"""The table of rules: each has a case that triggers it, and is silent where it is off."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from harness.core.transition.ports import Violation
from harness.core.values.errors import InputError
from harness.core.values.messages import (
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from harness.core.values.plans import ApiError, Reply
from harness.providers.openai_responses.record import RECORD, TABLE, rules_of
from harness.providers.shared.openai import ParameterError
from tests.providers.openai_responses.cases import (
    CALL,
    CASES,
    OUTPUT,
    REASONING,
    USER,
    asked,
    tool,
)
from tests.providers.openai_responses.strategies import histories, round_of
from tests.providers.openai_responses.world import WIRE, Server, body_of, reader

THOUGHT = Reply((Thinking("why", "s"), ToolUse("c1", "read", {})), "tool_use")


def found(requests: list[bytes], dialect: str, window: int | None = None) -> list[Violation]:
    """What is wrong with the last of these requests of one session."""
    one = reader(dialect, window)
    return list([one.read(request) for request in requests][-1].violations)


@pytest.mark.parametrize("rule", CASES)
@pytest.mark.parametrize("dialect", RECORD.dialects.names)
def test_a_rule_says_its_text_where_it_is_on(rule: str, dialect: str) -> None:
    requests, text = CASES[rule]
    hits = [v for v in found(requests, dialect, 10 if rule == "V23" else None) if v.rule == rule]
    if dialect not in TABLE.rules[rule].dialects:
        assert hits == []
        return
    error = hits[0].error
    assert isinstance(error, ParameterError)
    row = TABLE.rules[rule]
    assert (error.message, error.status, error.type) == (text, row.status, row.type)
    assert error.code == row.code


def test_there_is_a_case_for_each_rule() -> None:
    assert CASES.keys() | {"R4"} == TABLE.rules.keys()


def response_items(server: Server) -> list[dict[str, Any]]:
    """The items of an answer that reasoned and called a tool."""
    _, response = server.ask("go", THOUGHT)
    items: list[dict[str, Any]] = response["output"]
    return items


@pytest.mark.parametrize("dialect", RECORD.dialects.names)
def test_a_call_needs_the_reasoning_that_it_was_given_out_with(dialect: str) -> None:
    server = Server(dialect)
    reasoning, call = response_items(server)
    whole, _ = server.ask([USER, reasoning, call, OUTPUT])
    assert whole.violations == ()
    text = (
        f"Item '{call['id']}' of type 'function_call' was provided without its required "
        f"'reasoning' item: '{reasoning['id']}'."
    )
    without, _ = server.ask([USER, call, OUTPUT])
    expected = [text] if dialect in TABLE.rules["R4"].dialects else []
    assert [v.error.message for v in without.violations] == expected
    nameless = {name: value for name, value in call.items() if name != "id"}
    assert server.ask([USER, nameless, OUTPUT])[0].violations == ()
    unasked, _ = server.ask([USER, reasoning, USER])
    assert [v.rule for v in unasked.violations] == (["R3"] if expected else [])


def test_an_unknown_kind_of_item_names_the_known_ones() -> None:
    (violation,) = found(asked(USER, {"type": "made_up"}), "")
    assert violation.rule == "R7"
    assert "'made_up'" in violation.error.message
    assert "'function_call_output'" in violation.error.message
    assert found(asked(USER, {"type": "made_up"}), "lenient") == []


MALFORMED: dict[str, tuple[Any, str]] = {
    "no object": (3, "input[0]"),
    "no type": ({"a": 1}, "input[0].type"),
    "type": ({"type": 3}, "input[0].type"),
    "role": ({"type": "message", "content": "x"}, "input[0].role"),
    "part": ({"role": "user", "content": [3]}, "input[0].content[0]"),
    "part type": ({"role": "user", "content": [{}]}, "input[0].content[0].type"),
    "text": ({"role": "user", "content": [{"type": "input_text"}]}, "input[0].content[0].text"),
    "side": (
        {"role": "assistant", "content": [{"type": "input_text", "text": "x"}]},
        "input[0].content[0]",
    ),
    "arguments": ({**CALL, "arguments": {}}, "input[0].arguments"),
    "name": ({**CALL, "name": "a.b"}, "input[0].name"),
    "call id": ({"type": "function_call_output", "output": "x"}, "input[0].call_id"),
    "summary": ({"type": "reasoning", "id": "rs_1"}, "input[0].summary"),
    "reference": ({"type": "item_reference"}, "input[0].id"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_item_is_refused_with_its_place(name: str) -> None:
    item, path = MALFORMED[name]
    error = found(asked(item), "")[0].error
    assert isinstance(error, ParameterError)
    assert error.param == path


def test_fields_of_the_wrong_type_are_refused() -> None:
    fields = {"model": 3, "stream": "x", "max_output_tokens": True, "tools": [3, {}, tool(4)]}
    errors = [v.error for v in found(asked(USER, **fields), "")]
    params = [error.param for error in errors if isinstance(error, ParameterError)]
    assert params[:3] == ["model", "stream", "max_output_tokens"]
    assert params[3:] == ["tools[0]", "tools[1].type", "tools[2].name"]
    assert found([b'{"input":{},"model":"m"}'], "")[0].rule == "R8"
    assert found([b'{"input":"x"}'], "")[0].error.message.endswith("'model'.")
    assert found([b"[1]"], "")[0].error.message.endswith("but got an array instead.")


def test_a_stored_prompt_may_name_the_model() -> None:
    assert found([b'{"prompt":{"id":"pmpt_1"}}'], "") == []
    assert [v.rule for v in found([b'{"input":"x"}'], "")] == ["R9"]


def test_reasoning_is_followed_by_an_item_that_the_server_gave_out() -> None:
    said = {"role": "assistant", "content": "x"}
    assert [v.rule for v in found(asked(USER, REASONING, said), "")] == ["R3"]
    assert found(asked(USER, REASONING, {**said, "id": "msg_1"}), "") == []
    assert found(asked(USER, REASONING, CALL, OUTPUT), "") == []


def test_truncation_of_the_server_makes_room() -> None:
    long = {"role": "user", "content": "long " * 9}
    assert [v.rule for v in found(asked(long), "", 10)] == ["V23"]
    assert found(asked(long, truncation="auto"), "", 10) == []


@pytest.mark.parametrize("dialect", RECORD.dialects.names)
@given(messages=histories())
def test_a_valid_conversation_breaks_no_rule(dialect: str, messages: list[Message]) -> None:
    assert reader(dialect).read(body_of(messages)).violations == ()
    assert WIRE.refuse(messages, dialect) == ()


REFUSED: dict[str, list[Message]] = {
    "R1": [user("a"), Message("user", (ToolResult("c1", "ok"),))],
    "R2": round_of("c1")[:2],
    "R3": [user("a"), assistant(Thinking("a", "s")), user("b")],
    "R6": [*round_of("c1"), *round_of("c1")[1:]],
    "R7": [Message("tool", (Text("x"),))],
}


@pytest.mark.parametrize("rule", REFUSED)
def test_recorded_messages_are_judged_by_the_same_rules(rule: str) -> None:
    assert [v.rule for v in WIRE.refuse(REFUSED[rule], "")] == [rule]


def test_reasoning_of_recorded_messages_is_named_by_its_place() -> None:
    (violation,) = WIRE.refuse(REFUSED["R3"], "")
    assert violation.error.message.startswith("Item 'rs_1' of type")


def test_every_dialect_is_a_subset_of_the_rules_and_has_some_of_its_own() -> None:
    sets = {dialect: rules_of(dialect) for dialect in RECORD.dialects.names}
    assert sets["lenient"] < sets[RECORD.dialects.default] < sets["strict"] == TABLE.rules.keys()
    assert rules_of("") == sets[RECORD.dialects.default]
    assert set(RECORD.dialects.names) == set(RECORD.dialects.names)


def test_a_fault_can_force_any_rule() -> None:
    refusals = WIRE.refusals()
    assert refusals.keys() == TABLE.rules.keys()
    for rule, error in refusals.items():
        assert isinstance(error, ParameterError)
        assert "{" not in (error.param or "")
        assert (error.message, error.code) == (TABLE.rules[rule].text, TABLE.rules[rule].code)


def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'lenient'"):
        reader("leniant")


def test_every_error_is_an_api_error_with_an_envelope() -> None:
    for requests, _ in CASES.values():
        for violation in found(requests, "strict", 10):
            assert isinstance(violation.error, ApiError)
            assert 400 <= violation.error.status < 500
