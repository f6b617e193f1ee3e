"""Cases of the rules of messages: pairing, content, images, marks, size; with their legal kin."""

from __future__ import annotations

import msgspec

from harness.core.values.messages import Message, Text, ToolUse, assistant, user
from tests.providers.anthropic.bodies import (
    CALL,
    DONE,
    END,
    FIELDS,
    MARK,
    A,
    Said,
    U,
    blocks,
    body,
    case,
    png,
    wire,
)
from tests.providers.anthropic.strategies import round_of


def marked(count: int) -> bytes:
    """A request with a given number of cache marks, one of them on the system prompt."""
    said = [{"type": "text", "text": "a", **MARK} for _ in range(count - 1)]
    return wire(blocks(*said), system=[{"type": "text", "text": "s", **MARK}])


IMAGE = "messages.0.content.0.image.source.base64"

OK_ROUND = round_of("toolu_1")
SYSTEM = Message("system", (Text("s"),))

BROKEN: dict[str, tuple[Said, str]] = {
    "V1": (
        case(user("a"), user("b")),
        'messages: roles must alternate between "user" and "assistant", but found multiple '
        '"user" roles in a row',
    ),
    "V2": (
        case(user("a"), Message("system", (Text("s"),))),
        "messages.1: role 'system' is not supported on this model",
    ),
    "V2c": (
        body([user("a"), SYSTEM], model="claude-opus-4-7"),
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
    "V3": (
        case(user("a"), assistant("b"), *END),
        "messages: List should have at most 2 items after validation, not 3",
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
        case(user("a"), assistant(CALL, CALL), Message(U, (DONE,))),
        "messages.1.content.1: `tool_use` ids must be unique",
    ),
    "V6a": (
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
        case(Message(U, (Text(" \n"), Text(" ")))),
        "messages: text content blocks must contain non-whitespace text",
    ),
    "V10a": (
        case(user("a"), assistant(Text(" "), CALL), Message(U, (DONE,))),
        "messages: text content blocks must contain non-whitespace text",
    ),
    "V11": (
        case(user("a"), Message(A), *END),
        "messages.1: all messages must have non-empty content except for the optional final "
        "assistant message",
    ),
    "V12": (
        wire(blocks({"type": "text", "text": "", **MARK}, {"type": "text", "text": "a"})),
        "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
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
    "V26": (
        wire(blocks(png(1, size=5242884))),
        f"{IMAGE}: image exceeds 5 MB maximum: 5242884 bytes > 5242880 bytes",
    ),
    "V27": (
        wire(blocks(png(1, 2001), *[png(1)] * 20)),
        f"{IMAGE}.data: At least one of the image dimensions exceed max allowed size for "
        "many-image requests: 2000 pixels",
    ),
    "V27a": (
        wire(blocks(png(8001))),
        f"{IMAGE}.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    ),
    "V28": (
        b'{"messages":[{"role":"user","content":"\\ud83d"}]}',
        "The request body is not valid JSON: no low surrogate in string: line 1 column 40 "
        "(char 39)",
    ),
    "V29": (
        wire(blocks({"type": "text", "text": "a", "colour": "red"})),
        "messages.0.content.0.text.colour: Extra inputs are not permitted",
    ),
    "V30": (marked(5), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
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

LEGAL: dict[str, Said] = {
    "V1": case(user("a"), assistant("b"), user("c")),
    "V2": body([user("a")], system="s"),
    "V2c": body([user("a"), SYSTEM], model="claude-opus-4-8"),
    "V2a": case(user("a"), SYSTEM, assistant("b"), *END),
    "V2b": case(*END),
    "V3": case(user("a")),
    "V4": case(*OK_ROUND[:2], Message(U, (DONE, Text("b")))),
    "V5": case(*OK_ROUND),
    "V6": case(*OK_ROUND, *round_of("toolu_1")[1:]),
    "V6a": case(*OK_ROUND, *round_of("toolu_2")[1:]),
    "V7": case(*round_of("toolu_1", "toolu_2")),
    "V8": case(*OK_ROUND[:2], Message(U, (DONE, Text("x")))),
    "V9": case(user("x")),
    "V10": case(Message(U, (Text(" \n"), Text("x")))),
    "V10a": case(user("a"), assistant(Text(" "), Text("x"), CALL), Message(U, (DONE,))),
    "V11": case(user("a"), assistant("b"), *END),
    "V12": wire(blocks({"type": "text", "text": "a", **MARK})),
    "V13": body([user("a"), assistant("b")], model="claude-haiku-4-5"),
    "V14": body([user("a"), assistant("b")], model="claude-haiku-4-5"),
    "V23": case(user("a")),
    "V24": body([user("a")], max_tokens=1),
    "V26": wire(blocks(png(1, size=5242880))),
    "V27": wire(blocks(png(1, 2001), *[png(1)] * 19)),
    "V27a": wire(blocks(png(8000))),
    "V28": b'{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"\\ud83d\\ude00"}]}',
    "V29": wire(blocks({"type": "text", "text": "a", "citations": None})),
    "V30": marked(4),
    "V31": case(*OK_ROUND),
    "V32": case(*END),
    "V33": case(user("a"), assistant("b"), *END),
    "V34": case(*OK_ROUND),
    "V35": wire({"role": U, "content": "3"}),
    "V36": case(*END),
}
