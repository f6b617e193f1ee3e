"""For each rule a request that breaks it, the API's words for that, and its nearest legal kin."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import msgspec

from harness.core.draws import Draws
from harness.core.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from harness.core.plans import Reply
from harness.wires.anthropic.blocks import message_to
from harness.wires.anthropic.reply import write
from harness.wires.anthropic.request import AnthropicReader
from harness.wires.anthropic.rules import DEFAULT_DIALECT
from tests.wires.anthropic.strategies import round_of

Said = bytes | Callable[[AnthropicReader], bytes]
"""A request, or what makes one after the reader has read others."""

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


def blocks(*values: dict[str, Json], role: str = U) -> dict[str, Json]:
    """A message as the wire writes it."""
    return {"role": role, "content": list(values)}


def wire(*messages: dict[str, Json], **fields: Json) -> bytes:
    """A request of messages as the wire writes them."""
    return msgspec.json.encode({**FIELDS, "messages": list(messages), **fields})


MARK = {"cache_control": {"type": "ephemeral"}}


def marked(count: int) -> bytes:
    """A request with so many cache marks, one of them on the system prompt."""
    said = [{"type": "text", "text": "a", **MARK} for _ in range(count - 1)]
    return wire(blocks(*said), system=[{"type": "text", "text": "s", **MARK}])


def png(width: int, height: int = 1, size: int = 0) -> dict[str, Json]:
    """An image that claims these edges; `size` fills it up to so many bytes."""
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4)
    source = {"type": "base64", "media_type": "image/png"}
    text = base64.b64encode(data.ljust(size, b"\0")).decode()
    return {"type": "image", "source": {**source, "data": text}}


BOUND = "claude-opus-5-5"
THOUGHT = Reply((Thinking("Hm."), Text("Look."), CALL), "tool_use")


def thought(*before: Message, **fields: Json) -> tuple[Block, ...]:
    """What the model answers to these messages: signed thinking and a call."""
    reading = AnthropicReader(DEFAULT_DIALECT, None).read(body(list(before), **fields))
    return reading.complete(THOUGHT).blocks


def loop(*said: Block, first: str = "go", **fields: Any) -> bytes:
    """A tool loop in which the assistant said this."""
    return body([user(first), assistant(*said), Message(U, (DONE,))], **fields)


def changed(said: tuple[Block, ...]) -> tuple[Block, ...]:
    """The same with other words in the thinking."""
    return (msgspec.structs.replace(said[0], text="Oh."), *said[1:])


def torn(said: tuple[Block, ...]) -> tuple[Block, ...]:
    """The same with half a signature."""
    assert isinstance(said[0], Thinking)
    half = Thinking(said[0].text, said[0].signature[:20])
    return (half, *said[1:])


def named(*names: str) -> bytes:
    """A request that offers tools of these names."""
    return body([user("a")], tools=[{"name": name, "input_schema": {}} for name in names])


def summary(**changes: Json) -> dict[str, Json]:
    """A signed summary, changed."""
    asked = body([user("a")], compaction={"type": "summarize"})
    reading = AnthropicReader(DEFAULT_DIALECT, None).read(asked)
    block = reading.complete(Reply((Text("so far"),))).blocks[0]
    assert isinstance(block, Opaque)
    return blocks({**block.value, **changes}, role=A)


GO = {"role": U, "content": "go on"}


ID = "msg_" + Draws(1).identifier("", "k")


def threaded(reader: AnthropicReader, *, twice: bool = False) -> str:
    """The id of an answer on a thread, which is continued already if `twice`."""
    reading = reader.read(body([user("a")], thread={"type": "create"}, system="s"))
    write(Reply((Text("b"),)), reading, "k", Draws(1))
    if twice:
        again = reader.read(more(ID))
        write(Reply((Text("d"),)), again, "l", Draws(1))
    return ID


def more(id_: str, **fields: Json) -> bytes:
    """A turn that continues a thread."""
    thread = {"type": "continue", "previous_message_id": id_}
    return body([user("c")], thread=thread, **fields)


THINKS = {"type": "enabled", "budget_tokens": 1024}
ROOM: dict[str, Any] = {"max_tokens": 2000}
SIGNED = thought(user("go"))
BOUND_TO = thought(user("go"), model=BOUND)
INVALID = "messages.1.content.0: Invalid `signature` in `thinking` block"
BEGINS = (
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. "
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block "
    "(preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you "
    "include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. "
    "Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)
IMAGE = "messages.0.content.0.image.source.base64"

BROKEN |= {
    "V3": (
        case(user("a"), assistant("b"), *END),
        "messages: List should have at most 2 items after validation, not 3",
    ),
    "V12": (
        wire(blocks({"type": "text", "text": "", **MARK}, {"type": "text", "text": "a"})),
        "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
    ),
    "V15": (
        loop(*changed(SIGNED)),
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant "
        "message cannot be modified. These blocks must remain as they were in the original "
        "response.",
    ),
    "V16": (loop(*torn(SIGNED)), INVALID),
    "V17": (
        loop(*BOUND_TO, first="come", model=BOUND),
        f"{INVALID}. The block is bound to a different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    ),
    "V18": (loop(CALL, thinking=THINKS, **ROOM), BEGINS),
    "V19": (
        body([user("a")], model="claude-opus-4-7", thinking=THINKS, **ROOM),
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.',
    ),
    "V19a": (
        body([user("a")], model="claude-sonnet-4-5", thinking={"type": "adaptive"}),
        "adaptive thinking is not supported on this model",
    ),
    "V19b": (
        body([user("a")], model="claude-fable-5-1", thinking={"type": "disabled"}),
        '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.',
    ),
    "V19c": (
        body([user("a")], thinking={**THINKS, "budget_tokens": 1023}, **ROOM),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    "V19d": (
        body([user("a")], thinking=THINKS, max_tokens=1024),
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    "V20": (
        body([user("a")], model="claude-fable-5-1", tool_choice={"type": "any"}),
        "tool_choice: forced tool use is not supported on this model",
    ),
    "V20a": (
        body([user("a")], thinking=THINKS, tool_choice={"type": "tool", "name": "x"}, **ROOM),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    "V21": (
        named("sound", "a.b"),
        "tools.1.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    "V21a": (named("x" * 129), "tools.0.custom.name: String should have at most 128 characters"),
    "V21b": (
        named("x" * 65),
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    ),
    "V22": (named("x", "y", "x"), "tools: Tool names must be unique."),
    "V25": (
        body([user("a")], model="claude-haiku-4-5", max_tokens=64001),
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for "
        "claude-haiku-4-5",
    ),
    "V26": (
        wire(blocks(png(1, size=5242881))),
        f"{IMAGE}: image exceeds 5 MB maximum: 5242881 bytes > 5242880 bytes",
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
    "V29": (
        wire(blocks({"type": "text", "text": "a", "colour": "red"})),
        "messages.0.content.0.text.colour: Extra inputs are not permitted",
    ),
    "V30": (marked(5), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    "thread_not_found": (
        more("msg_0"),
        "thread: no usable thread state was found for `previous_message_id` msg_0. Replay the "
        'full conversation with `thread: {"type": "create"}`.',
    ),
    "thread_already_continued": (
        lambda reader: more(threaded(reader, twice=True)),
        f"thread: the response {ID} has already been continued. Continue from the thread's most "
        "recent response.",
    ),
    "thread_fingerprint_mismatch": (
        lambda reader: more(threaded(reader), system="other"),
        "thread: `system` must stay as stored with the thread. Send the stored values, or replay "
        'the full conversation with `thread: {"type": "create"}`.',
    ),
    "thread_unsupported_request": (
        body([user("a")], thread={"type": "create"}),
        "thread: threads are not supported for this request. Send the full conversation without "
        "`thread`.",
    ),
    "compaction_nothing_to_summarize": (
        wire(compaction={"type": "summarize"}),
        "compaction: `messages` holds nothing to summarize",
    ),
    "compaction_incomplete_turn": (
        body([user("a"), assistant(CALL)], compaction={"type": "summarize"}),
        "compaction: the conversation ends on an `assistant` turn that is not finished",
    ),
    "compaction_block_misplaced": (
        wire(GO, summary(), GO),
        "messages.1.content.0: a `compaction` block must be the first block of the conversation",
    ),
    "compaction_block_ambiguous": (
        wire(summary(), GO, summary(), GO),
        "messages.2.content.0: more than one `compaction` block with content. Send only the one "
        "that was returned last.",
    ),
    "compaction_signature_invalid": (
        wire(summary(signature="bGgBbm90"), GO),
        "messages.0.content.0: Invalid `signature` in `compaction` block",
    ),
    "compaction_content_mismatch": (
        wire(summary(content="another"), GO),
        "messages.0.content.0: the `content` of the `compaction` block differs from what its "
        "`signature` recorded",
    ),
    "compaction_tool_changes_mismatch": (
        wire(summary(tool_changes=[{"type": "tool_removal"}]), GO),
        "messages.0.content.0: the `tool_changes` of the `compaction` block differ from what was "
        "returned with it",
    ),
}

OK_ROUND = round_of("toolu_1")
SYSTEM = Message("system", (Text("s"),))

LEGAL: dict[str, Said] = {
    "V1": case(user("a"), assistant("b"), user("c")),
    "V2": body([user("a")], system="s"),
    "V2a": case(user("a"), SYSTEM, assistant("b"), *END),
    "V2b": case(*END),
    "V3": case(user("a")),
    "V4": case(*OK_ROUND[:2], Message(U, (DONE, Text("b")))),
    "V5": case(*OK_ROUND),
    "V6": case(*OK_ROUND, *round_of("toolu_2")[1:]),
    "V7": case(*round_of("toolu_1", "toolu_2")),
    "V8": case(*OK_ROUND[:2], Message(U, (DONE, Text("x")))),
    "V9": case(user("x")),
    "V10": case(user(" \nx")),
    "V11": case(user("a"), assistant("b"), *END),
    "V12": wire(blocks({"type": "text", "text": "a", **MARK})),
    "V13": case(user("a"), assistant("b")),
    "V14": case(user("a"), assistant("b"), *END),
    "V15": loop(*SIGNED),
    "V16": loop(*SIGNED),
    "V17": loop(*BOUND_TO, model=BOUND),
    "V18": loop(*SIGNED, thinking=THINKS, **ROOM),
    "V19": body([user("a")], model="claude-opus-4-6", thinking=THINKS, **ROOM),
    "V19a": body([user("a")], model="claude-sonnet-4-6", thinking={"type": "adaptive"}),
    "V19b": body([user("a")], model="claude-opus-5-5", thinking={"type": "disabled"}),
    "V19c": body([user("a")], thinking=THINKS, **ROOM),
    "V19d": body([user("a")], thinking=THINKS, max_tokens=1025),
    "V20": body([user("a")], model="claude-fable-5-1", tool_choice={"type": "auto"}),
    "V20a": body([user("a")], thinking=THINKS, tool_choice={"type": "auto"}, **ROOM),
    "V21": named("a_b-C9"),
    "V21a": named("x" * 128),
    "V21b": named("x" * 64),
    "V22": named("x", "X"),
    "V23": case(user("a")),
    "V24": body([user("a")], max_tokens=1),
    "V25": body([user("a")], model="claude-haiku-4-5", max_tokens=64000),
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
    "thread_not_found": lambda reader: more(threaded(reader)),
    "thread_already_continued": lambda reader: more(threaded(reader)),
    "thread_fingerprint_mismatch": lambda reader: more(threaded(reader), system="s"),
    "thread_unsupported_request": body([user("a")], thread=None),
    "compaction_nothing_to_summarize": wire(GO, compaction={"type": "summarize"}),
    "compaction_incomplete_turn": body(
        [user("a"), assistant("b")], compaction={"type": "summarize"}
    ),
    "compaction_block_misplaced": wire(summary(), GO),
    "compaction_block_ambiguous": wire(summary(), summary(content=None), GO),
    "compaction_signature_invalid": wire(summary(signature="foreign"), GO),
    "compaction_content_mismatch": wire(summary(), GO),
    "compaction_tool_changes_mismatch": wire(summary(), GO),
}
