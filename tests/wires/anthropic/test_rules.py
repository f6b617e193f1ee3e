"""The table of rules: each has a case that triggers it alone, and is silent where it is off."""

from __future__ import annotations

import msgspec
import pytest

from harness.core.errors import InputError
from harness.core.messages import Message, Opaque, Text, ToolResult, ToolUse, assistant, user
from harness.core.ports import Violation
from harness.wires.anthropic.blocks import message_to
from harness.wires.anthropic.request import AnthropicReader
from harness.wires.anthropic.rules import ALL, DEFAULT_DIALECT, DIALECTS, RULES, rules_of
from tests.wires.anthropic.strategies import round_of

FIELDS = {"model": "m", "max_tokens": 10}
U, A = "user", "assistant"
END = [user("end")]
CALL = ToolUse("toolu_1", "read", {})
DONE = ToolResult("toolu_1", "ok")
WINDOW = {"V23": 5, "V24": 30}


def body(messages: list[Message], **fields: object) -> bytes:
    """A request of these messages."""
    wire = [message_to(message) for message in messages]
    return msgspec.json.encode({**FIELDS, "messages": wire, **fields})


def case(*messages: Message) -> bytes:
    """The request of a case."""
    return body(list(messages))


CASES: dict[str, tuple[bytes, str]] = {
    "V1": (
        case(user("a"), user("b")),
        'messages: roles must alternate between "user" and "assistant", but found multiple '
        '"user" roles in a row',
    ),
    "V2": (
        case(user("a"), Message("system", (Text("s"),))),
        "messages.1: role 'system' is not supported on this model",
    ),
    "V2a": (
        case(user("a"), assistant("b"), Message("system", (Text("s"),)), *END),
        "messages.2: `system` messages must immediately follow a `user` message",
    ),
    "V2b": (
        case(Message("tool", (Text("s"),)), *END),
        "messages.0.role: Input should be 'user' or 'assistant'",
    ),
    "V4": (
        case(user("a"), assistant(CALL, ToolUse("toolu_2", "read", {})), user("b")),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
        "toolu_1, toolu_2. Each `tool_use` block must have a corresponding `tool_result` block "
        "in the next message.",
    ),
    "V5": (
        case(Message(U, (Text("x"), DONE))),
        "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
        "message.",
    ),
    "V6": (
        case(*round_of("toolu_1"), *round_of("toolu_1")[1:]),
        "messages.3.content.0: `tool_use` ids must be unique",
    ),
    "V7": (
        case(*round_of("toolu_1")[:2], Message(U, (DONE, DONE))),
        "messages.2.content.1: each tool_use must have a single result. Found multiple "
        "`tool_result` blocks with id: toolu_1",
    ),
    "V8": (
        case(*round_of("toolu_1")[:2], Message(U, (Text("x"), DONE))),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
        "toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the "
        "next message.",
    ),
    "V9": (
        case(Message(U, (Text(""), Text("x")))),
        "messages: text content blocks must be non-empty",
    ),
    "V10": (
        case(Message(U, (Text(" \n"), Text("x")))),
        "messages: text content blocks must contain non-whitespace text",
    ),
    "V11": (
        case(user("a"), Message(A), *END),
        "messages.1: all messages must have non-empty content except for the optional final "
        "assistant message",
    ),
    "V13": (
        case(user("a"), assistant("b ")),
        "messages: final assistant content cannot end with trailing whitespace",
    ),
    "V14": (
        case(user("a"), assistant("b")),
        "This model does not support assistant message prefill. The conversation must end with a "
        "user message.",
    ),
    "V23": (case(user("a")), "prompt is too long: {tokens} tokens > 5 maximum"),
    "V24": (
        body([user("a")], max_tokens=100),
        "input length and `max_tokens` exceed context limit: {tokens} + 100 > 30, decrease input "
        "length or `max_tokens` and try again",
    ),
    "V28": (
        b'{"messages":[{"role":"user","content":"\\ud83d"}]}',
        "The request body is not valid JSON: no low surrogate in string: line 1 column 40 "
        "(char 39)",
    ),
    "V31": (
        case(user("a"), assistant(ToolUse("toolu_1", "read", "{}")), Message(U, (DONE,))),
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    "V32": (
        msgspec.json.encode({"model": "m", "messages": [{"role": U, "content": "a"}]}),
        "max_tokens: Field required",
    ),
    "V33": (case(assistant("a"), *END), 'messages: first message must use the "user" role'),
    "V34": (
        case(user("a"), assistant("b", DONE), *END),
        "messages.1: `tool_result` blocks can only be in `user` messages",
    ),
    "V35": (
        msgspec.json.encode({**FIELDS, "messages": [{"role": U, "content": 3}]}),
        "messages.0.content: Input should be a valid list",
    ),
    "V36": (case(), "messages: at least one message is required"),
}


def read(rule: str, dialect: str) -> tuple[tuple[Violation, ...], int]:
    """The violations that a dialect finds in a rule's case, and its tokens."""
    reading = AnthropicReader(dialect, WINDOW.get(rule)).read(CASES[rule][0])
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
    ids = [violation.rule for violation in found]
    if dialect not in RULES[rule].dialects:
        assert rule not in ids
        return
    expected = CASES[rule][1].replace("{tokens}", str(tokens))
    error = next(violation.error for violation in found if violation.rule == rule)
    assert (error.status, error.type) == (400, "invalid_request_error")
    assert error.message == expected


@pytest.mark.parametrize("rule", CASES)
def test_some_dialect_refuses_the_case_for_this_rule_alone(rule: str) -> None:
    alone = [d for d in DIALECTS if [v.rule for v in read(rule, d)[0]] == [rule]]
    assert alone


def test_prefill_is_refused_since_2026_only() -> None:
    assert "V14" in rules_of(DEFAULT_DIALECT)
    assert "V14" not in rules_of("anthropic-2023")
    assert rules_of("") == rules_of(DEFAULT_DIALECT)


def test_a_pause_of_the_server_is_no_prefill() -> None:
    pause = Opaque("server_tool_use", {"type": "server_tool_use", "id": "s", "input": {}})
    reading = AnthropicReader(DEFAULT_DIALECT, None).read(case(user("a"), assistant("b", pause)))
    assert reading.violations == ()


def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'anthropic-2026'"):
        rules_of("antropic-2026")
