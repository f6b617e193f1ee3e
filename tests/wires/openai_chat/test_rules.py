"""The table: every rule has a case that shows its status, type, code, parameter and text."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.errors import InputError
from harness.core.messages import Json
from harness.core.plans import ApiError
from harness.core.ports import Violation
from harness.wires import by_name
from harness.wires.openai_chat.errors import ChatError
from harness.wires.openai_chat.request import OpenAIChatReader
from harness.wires.openai_chat.rule import ALL
from harness.wires.openai_chat.rules import DEFAULT_DIALECT, DIALECTS, RULES, rules_of

INVALID = "invalid_request_error"
WINDOW = {"V23": 5, "V24": 30}
NULL = "Invalid value for 'content': expected a string, got null."
MISSING, TYPE, EMPTY = "missing_required_parameter", "invalid_type", "empty_array"


def said(role: str, content: Json = "x", **more: Json) -> dict[str, Json]:
    """A row."""
    return {"role": role, "content": content, **more}


def asks(*ids: str, name: str = "read", arguments: Json = "{}", **more: Json) -> dict[str, Json]:
    """An assistant row that calls a tool for each id."""
    function = {"name": name, "arguments": arguments}
    calls = [{"id": id_, "type": "function", "function": function, **more} for id_ in ids]
    return said("assistant", None, tool_calls=calls)


def done(id_: str = "call_1", content: Json = "ok") -> dict[str, Json]:
    """A row with a result."""
    return said("tool", content, tool_call_id=id_)


def body(*rows: Json, **fields: Json) -> bytes:
    """A request of these rows, after a user's."""
    value: dict[str, Any] = {"model": "m", "messages": [said("user"), *rows], **fields}
    return msgspec.json.encode(value)


def tool(name: Json, **more: Json) -> dict[str, Json]:
    """A tool of a request."""
    return {"type": "function", "function": {"name": name, **more}}


CASES: dict[str, tuple[bytes, str, str, str]] = {
    "C1": (
        body(asks("call_1", "call_2"), done("call_1"), said("user")),
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: call_2",
        "messages.[3].role",
        "",
    ),
    "C2": (
        body(said("assistant"), done()),
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
        "with 'tool_calls'.",
        "messages.[2].role",
        "",
    ),
    "C3": (
        body(asks("call_1"), done(), said("tool")),
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        "messages.[3].tool_call_id",
        "",
    ),
    "C4": (
        body(asks("call_1"), done(), done()),
        "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1', in messages[2] and "
        "messages[3].",
        "messages.[3].tool_call_id",
        "",
    ),
    "C5": (
        body(asks("call_1"), done(), done("call_9")),
        "Invalid parameter: 'tool_call_id' of 'call_9' not found in 'tool_calls' of previous "
        "message.",
        "messages.[3].tool_call_id",
        "",
    ),
    "C6": (body(said("assistant"), said("user", None)), NULL, "messages.[2].content", ""),
    "C7": (body(said("assistant", None)), NULL, "messages.[1].content", ""),
    "C10": (
        b'{"messages":',
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't "
        "using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was "
        "sent was not valid JSON. If you have trouble figuring out how to fix this, please "
        "contact us through our help center at help.openai.com.)",
        "",
        "",
    ),
    "C11": (
        body(max_tokens="x"),
        "Invalid type for 'max_tokens': expected an integer, but got a string instead.",
        "max_tokens",
        TYPE,
    ),
    "C11a": (
        body(asks("call_1", arguments={"a": 1})),
        "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but "
        "got an object instead.",
        "messages[1].tool_calls[0].function.arguments",
        TYPE,
    ),
    "C12": (
        body({"content": "x"}),
        "Missing required parameter: 'messages[1].role'.",
        "messages[1].role",
        MISSING,
    ),
    "C12a": (
        body(said("assistant", None, tool_calls=[{"id": "c", "type": "function"}])),
        "Missing required parameter: 'messages[1].tool_calls[0].function'.",
        "messages[1].tool_calls[0].function",
        MISSING,
    ),
    "C13": (
        msgspec.json.encode({"model": "m", "messages": []}),
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        "messages",
        EMPTY,
    ),
    "C13a": (
        body(said("assistant", "x", tool_calls=[])),
        "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead.",
        "messages[1].tool_calls",
        EMPTY,
    ),
    "C14": (
        msgspec.json.encode({"messages": [said("user")]}),
        "you must provide a model parameter",
        "",
        "",
    ),
    "C15": (
        body(said("model")),
        "Invalid value: 'model'. Supported values are: 'system', 'assistant', 'user', 'function', "
        "'tool', and 'developer'.",
        "messages[1].role",
        "invalid_value",
    ),
    "C16": (
        body(said("assistant", [{"type": "tool_use", "id": "x"}])),
        "Invalid value: 'tool_use'. Supported values are: 'text', 'image_url', 'input_audio', "
        "'refusal', 'audio', and 'file'.",
        "messages[1].content[0].type",
        "invalid_value",
    ),
    "C17": (
        body(asks("c" * 41), done("c" * 41)),
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum "
        "length 40, but got a string with length 41 instead.",
        "messages[1].tool_calls[0].id",
        "string_above_max_length",
    ),
    "C18": (
        body(tools=[tool("get the weather")]),
        "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that "
        "matches the pattern '^[a-zA-Z0-9_-]+$'.",
        "tools[0].function.name",
        "invalid_value",
    ),
    "C19": (
        body(tools=[tool("x" * 65)]),
        "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length "
        "64, but got a string with length 65 instead.",
        "tools[0].function.name",
        "string_above_max_length",
    ),
    "C20": (
        body(tool_choice="auto"),
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
        "specified.",
        "tool_choice",
        "",
    ),
    "C21": (
        body(stream_options={"include_usage": True}),
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "stream_options",
        "",
    ),
    "C30": (
        body(said("assistant", None)),
        "Invalid assistant message: content or tool_calls must be set",
        "",
        "",
    ),
    "C31": (
        body(said("assistant", "")),
        "the message at position 1 with role 'assistant' must not be empty",
        "",
        "",
    ),
    "C32": (
        body(said("user")),
        "After the optional system message, conversation roles must alternate "
        "user/assistant/user/assistant/...",
        "",
        "400",
    ),
    "C33": (
        body(said("developer")),
        "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - "
        "'messages.['1].role'",
        "",
        "",
    ),
    "C34": (
        body(asks("call_1", arguments='{"a'), done()),
        "Invalid 'messages[1].tool_calls[0].function.arguments': not a JSON object.",
        "messages[1].tool_calls[0].function.arguments",
        "invalid_value",
    ),
    "C35": (body(tools=[tool("read"), tool("read")]), "Tool names must be unique", "", ""),
    "V23": (
        body(),
        "This model's maximum context length is 5 tokens. However, your messages resulted in "
        "{tokens} tokens. Please reduce the length of the messages.",
        "messages",
        "context_length_exceeded",
    ),
    "V24": (
        body(max_completion_tokens=100),
        "This model's maximum context length is 30 tokens. However, you requested {total} tokens "
        "({tokens} in the messages, 100 in the completion). Please reduce the length of the "
        "messages or completion.",
        "messages",
        "context_length_exceeded",
    ),
}


def read(rule: str, dialect: str) -> tuple[tuple[Violation, ...], int]:
    """The violations that a dialect finds in a rule's case, and its tokens."""
    reading = OpenAIChatReader(dialect, WINDOW.get(rule)).read(CASES[rule][0])
    return reading.violations, reading.tokens


def test_every_rule_has_a_case_a_source_and_a_home() -> None:
    assert CASES.keys() == RULES.keys()
    for rule in RULES.values():
        assert rule.source
        assert rule.known in set("SDIK")
        assert rule.dialects
        assert rule.dialects <= ALL


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("rule", CASES)
def test_a_case_triggers_its_rule_where_it_is_on_and_only_there(rule: str, dialect: str) -> None:
    found, tokens = read(rule, dialect)
    if dialect not in RULES[rule].dialects:
        assert rule not in [violation.rule for violation in found]
        return
    _, text, param, code = CASES[rule]
    text = text.replace("{tokens}", str(tokens)).replace("{total}", str(tokens + 100))
    error = next(violation.error for violation in found if violation.rule == rule)
    kind = "BadRequestError" if rule == "C32" else INVALID
    assert error == ChatError(400, kind, text, code=code, param=param)


@pytest.mark.parametrize("rule", CASES)
def test_some_dialect_refuses_the_case_for_this_rule_alone(rule: str) -> None:
    alone = [d for d in DIALECTS if [v.rule for v in read(rule, d)[0]] == [rule]]
    assert alone


MORE: list[tuple[bytes, str, str]] = [
    (body(said("user", 3)), "C11a", "messages[1].content"),
    (body(said("user", [])), "C13a", "messages[1].content"),
    (body(said("user", [{"x": 1}])), "C12a", "messages[1].content[0].type"),
    (body(said("user", [{"type": "text"}])), "C12a", "messages[1].content[0].text"),
    (body(said("assistant", "x", tool_calls="y")), "C11a", "messages[1].tool_calls"),
    (body(asks("call_1", type=3)), "C11a", "messages[1].tool_calls[0].type"),
    (body(asks("call_1", id=3)), "C11a", "messages[1].tool_calls[0].id"),
    (body(asks("call_1", name="a b"), done()), "C18", "messages[1].tool_calls[0].function.name"),
    (body(asks("call_1"), done(content=None)), "C6", "messages.[2].content"),
    (body(asks("call_1"), done(content=[])), "C13a", "messages[2].content"),
    (body(asks("call_1")), "C1", "messages"),
    (body(3), "C11", "messages[1]"),
    (body({"role": 3}), "C11", "messages[1].role"),
    (body(model=3), "C11", "model"),
    (body(tools="x"), "C11", "tools"),
    (body(tools=[]), "C13a", "tools"),
    (body(tools=[{"function": {"name": "f"}}]), "C12a", "tools[0].type"),
    (body(tools=[{"type": "function"}]), "C12a", "tools[0].function"),
    (body(tools=[tool(3)]), "C11a", "tools[0].function.name"),
    (msgspec.json.encode({"model": "m", "messages": "x"}), "C11", "messages"),
]


@pytest.mark.parametrize(("request_body", "rule", "param"), MORE)
def test_the_parameter_says_where(request_body: bytes, rule: str, param: str) -> None:
    first = OpenAIChatReader(DEFAULT_DIALECT, None).read(request_body).violations[0]
    assert isinstance(first.error, ChatError)
    assert (first.rule, first.error.param) == (rule, param)


def test_a_call_without_a_type_is_a_call_all_the_same() -> None:
    call = {"id": "call_1", "function": {"name": "read", "arguments": "{}"}}
    request_body = body(said("assistant", None, tool_calls=[call]), done())
    refused = OpenAIChatReader(DEFAULT_DIALECT, None).read(request_body)
    assert [v.rule for v in refused.violations] == ["C12a"]
    assert OpenAIChatReader("lenient", None).read(request_body).violations == ()


def test_the_answers_of_all_rules_are_at_hand() -> None:
    refusals = by_name("openai-chat").refusals()
    assert refusals.keys() == RULES.keys()
    over = refusals["V23"]
    assert isinstance(over, ApiError)
    assert over.code == "context_length_exceeded"
    assert "{tokens}" in over.message
    assert not [e for e in refusals.values() if isinstance(e, ChatError) and "{" in e.param]


def test_the_default_dialect_is_the_api_itself() -> None:
    assert rules_of("") == rules_of("openai-chat")
    assert rules_of("lenient") < rules_of("strict")


def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'strict'"):
        rules_of("strikt")
