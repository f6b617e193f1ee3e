"""The table of rules: each has a case that triggers it, and is silent where it is off."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from harness.core.errors import InputError
from harness.core.messages import Message, Text, Thinking, ToolResult, ToolUse, assistant, user
from harness.core.plans import ApiError, Reply
from harness.core.ports import Violation
from harness.wires.openai_responses.errors import ResponsesError
from harness.wires.openai_responses.rules import ALL, DEFAULT_DIALECT, DIALECTS, RULES, rules_of
from tests.wires.openai_responses.strategies import histories, round_of
from tests.wires.openai_responses.world import WIRE, Server, body, body_of, reader

CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
USER = {"role": "user", "content": "go"}
THOUGHT = Reply((Thinking("why", "s"), ToolUse("c1", "read", {})), "tool_use")


def asked(*items: Any, **fields: Any) -> list[bytes]:
    """One request."""
    return [body(list(items), **fields)]


def tool(name: Any) -> dict[str, Any]:
    """A declared function."""
    return {"type": "function", "name": name}


CASES: dict[str, tuple[list[bytes], str]] = {
    "R1": (asked(USER, OUTPUT), "No tool call found for function call output with call_id c1."),
    "R2": (asked(USER, CALL), "No tool output found for function call c1."),
    "R3": (
        asked(USER, REASONING, USER),
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    "R5": (
        asked({**USER, "id": "msg_1"}, {**USER, "id": "msg_1"}),
        "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
    ),
    "R6": (asked(USER, CALL, OUTPUT, CALL, OUTPUT), "Duplicate call_id found in input: 'c1'."),
    "R7": (
        asked({"role": "tool", "content": "x"}),
        "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and "
        "'user'.",
    ),
    "R8": (
        asked({"role": "user", "content": 3}),
        "Invalid type for 'input[0].content': expected one of a string or an array of objects, "
        "but got an integer instead.",
    ),
    "R9": (asked({"role": "user"}), "Missing required parameter: 'input[0].content'."),
    "R10": (
        asked(USER, tools=[tool("a.b")]),
        "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches "
        "the pattern '^[a-zA-Z0-9_-]+$'.",
    ),
    "R11": (
        asked(USER, tools=[tool("a" * 65)]),
        "Invalid 'tools[0].name': string too long. Expected a string with maximum length 64, but "
        "got a string with length 65 instead.",
    ),
    "R12": (asked(USER, tools=[tool("a"), tool("a")]), "Duplicate tool name: 'a'."),
    "V23": (
        asked({"role": "user", "content": "long " * 9}),
        "Your input exceeds the context window of this model. Please adjust your input and try "
        "again.",
    ),
    "R14": (
        asked(USER, max_output_tokens=15),
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but "
        "got 15 instead.",
    ),
    "R15": (
        asked(USER, previous_response_id="resp_x"),
        "Previous response with id 'resp_x' not found.",
    ),
    "R16": (
        asked(USER, previous_response_id="resp_x", conversation="conv_x"),
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are "
        "only providing one of them.",
    ),
    "R17": (asked({"type": "item_reference", "id": "msg_x"}), "Item with id 'msg_x' not found."),
    "R18": (
        [b"{"],
        "We could not parse the JSON body of your request: Expecting property name enclosed in "
        "double quotes: line 1 column 2 (char 1)",
    ),
    "R19": (asked({"role": "user", "content": ""}), "input[0].content: content must not be empty"),
    "R20": (
        asked(USER, CALL, USER, OUTPUT),
        "function_call_output with call_id c1 must follow its function_call at once",
    ),
    "R21": (asked(USER, CALL, OUTPUT, OUTPUT), "Duplicate output for function call c1."),
    "R22": (
        [b'{"model":"m"}'],
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be "
        "provided.",
    ),
}


def found(requests: list[bytes], dialect: str, window: int | None = None) -> list[Violation]:
    """What is wrong with the last of these requests of one session."""
    one = reader(dialect, window)
    return list([one.read(request) for request in requests][-1].violations)


@pytest.mark.parametrize("rule", CASES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_rule_says_its_text_where_it_is_on(rule: str, dialect: str) -> None:
    requests, text = CASES[rule]
    hits = [v for v in found(requests, dialect, 10 if rule == "V23" else None) if v.rule == rule]
    if dialect not in RULES[rule].dialects:
        assert hits == []
        return
    error = hits[0].error
    assert isinstance(error, ResponsesError)
    row = RULES[rule]
    assert (error.message, error.status, error.type) == (text, row.status, row.type)
    assert error.code == row.code


def test_there_is_a_case_for_each_rule() -> None:
    assert CASES.keys() | {"R4"} == RULES.keys()


def response_items(server: Server) -> list[dict[str, Any]]:
    """The items of an answer that reasoned and called a tool."""
    _, response = server.ask("go", THOUGHT)
    items: list[dict[str, Any]] = response["output"]
    return items


@pytest.mark.parametrize("dialect", DIALECTS)
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
    expected = [text] if dialect in RULES["R4"].dialects else []
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
    "call id": ({"type": "function_call_output", "output": "x"}, "input[0].call_id"),
    "summary": ({"type": "reasoning", "id": "rs_1"}, "input[0].summary"),
    "reference": ({"type": "item_reference"}, "input[0].id"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_item_is_refused_with_its_place(name: str) -> None:
    item, path = MALFORMED[name]
    error = found(asked(item), "")[0].error
    assert isinstance(error, ResponsesError)
    assert error.param == path


def test_fields_of_the_wrong_type_are_refused() -> None:
    fields = {"model": 3, "stream": "x", "max_output_tokens": True, "tools": [3, {}, tool(4)]}
    errors = [v.error for v in found(asked(USER, **fields), "")]
    params = [error.param for error in errors if isinstance(error, ResponsesError)]
    assert params[:3] == ["model", "stream", "max_output_tokens"]
    assert params[3:] == ["tools[0]", "tools[1].type", "tools[2].name"]
    assert found([b'{"input":{},"model":"m"}'], "")[0].rule == "R8"
    assert found([b'{"input":"x"}'], "")[0].error.message.endswith("'model'.")
    assert found([b"[1]"], "")[0].error.message.endswith("but got an array instead.")


def test_truncation_of_the_server_makes_room() -> None:
    long = {"role": "user", "content": "long " * 9}
    assert [v.rule for v in found(asked(long), "", 10)] == ["V23"]
    assert found(asked(long, truncation="auto"), "", 10) == []


@pytest.mark.parametrize("dialect", DIALECTS)
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
    sets = {dialect: rules_of(dialect) for dialect in DIALECTS}
    assert sets["lenient"] < sets[DEFAULT_DIALECT] < sets["strict"] == RULES.keys()
    assert rules_of("") == sets[DEFAULT_DIALECT]
    assert set(DIALECTS) == ALL


def test_a_fault_can_force_any_rule() -> None:
    refusals = WIRE.refusals()
    assert refusals.keys() == RULES.keys()
    for rule, error in refusals.items():
        assert isinstance(error, ResponsesError)
        assert "{" not in (error.param or "")
        assert (error.message, error.code) == (RULES[rule].text, RULES[rule].code)


def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'lenient'"):
        reader("leniant")


def test_every_error_is_an_api_error_with_an_envelope() -> None:
    for requests, _ in CASES.values():
        for violation in found(requests, "strict", 10):
            assert isinstance(violation.error, ApiError)
            assert 400 <= violation.error.status < 500
