"""Cases of the rules of other fields: thinking, tools, the cap of a reply; with their legal kin."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    assistant,
    user,
)
from harness.core.values.plans import Reply
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.request import AnthropicReader
from tests.providers.anthropic.bodies import CALL, DONE, Said, U, body

BOUND = "claude-opus-5-5"
THOUGHT = Reply((Thinking("Hm."), Text("Look."), CALL), "tool_use")


def thought(*before: Message, **fields: Json) -> tuple[Block, ...]:
    """What the model answers to these messages: signed thinking and a call."""
    reading = AnthropicReader(RECORD.dialects.default, None).read(body(list(before), **fields))
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


def answers(schema: dict[str, Json]) -> dict[str, Json]:
    """The setting that asks for an answer by a schema."""
    return {"format": {"type": "json_schema", "schema": schema}}


def at(url: str) -> Message:
    """A message of a picture at an address."""
    picture = {"type": "image", "source": {"type": "url", "url": url}}
    return Message(U, (Opaque("image", picture),))


CLOSED: dict[str, Json] = {"type": "object", "additionalProperties": False}
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

BROKEN: dict[str, tuple[Said, str]] = {
    "V15": (
        loop(*changed(SIGNED)),
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant "
        "message cannot be modified. These blocks must remain as they were in the original "
        "response.",
    ),
    "V16": (loop(*torn(SIGNED)), INVALID),
    "V16a": (
        loop(Opaque("redacted_thinking", {"type": "redacted_thinking", "data": ""}), CALL),
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
    ),
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
    "V37": (
        body([user("a")], model="claude-opus-4-6", output_config={"effort": "xhigh"}),
        "This model does not support effort level 'xhigh'. Supported levels: high, low, max, "
        "medium.",
    ),
    "V37a": (
        body([user("a")], model="claude-haiku-4-5", output_config={"effort": "low"}),
        "This model does not support the effort parameter.",
    ),
    "V38": (
        body([user("a")], model="claude-opus-4-7", temperature=0),
        "`temperature` is deprecated for this model.",
    ),
    "V38a": (
        body([user("a")], model="claude-sonnet-4-5", temperature=0, top_p=0.9),
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    ),
    "V38b": (
        body([user("a")], temperature=0, thinking=THINKS, **ROOM),
        "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
    ),
    "V39": (
        body([user("a")], output_config=answers({"type": "object"})),
        "output_config.format.schema: For 'object' type, 'additionalProperties' must be "
        "explicitly set to false",
    ),
    "V40": (body([user("a")], model="claude-4-5-haiku"), "model: claude-4-5-haiku"),
    "V41": (body([at("http://pictures.org/a.png")]), "Only HTTPS URLs are supported."),
    "V41a": (
        body([at("https://192.168.0.2/a.png")]),
        "Unable to download the file. Please verify the URL and try again.",
    ),
}

LEGAL: dict[str, Said] = {
    "V15": loop(*SIGNED),
    "V16": loop(*SIGNED),
    "V16a": loop(Thinking(redacted="c2VjcmV0"), CALL),
    "V17": loop(*BOUND_TO, model=BOUND),
    "V18": loop(*SIGNED, thinking=THINKS, **ROOM),
    "V19": body([user("a")], model="claude-opus-4-6", thinking=THINKS, **ROOM),
    "V19a": body([user("a")], model="claude-sonnet-4-6", thinking={"type": "adaptive"}),
    "V19b": body([user("a")], model="claude-opus-5-5", thinking={"type": "disabled"}),
    "V19c": body([user("a")], thinking=THINKS, **ROOM),
    "V19d": body([user("a")], thinking=THINKS, max_tokens=1025),
    "V20": body([user("a")], model="claude-fable-5-1", tool_choice={"type": "auto"}),
    "V20a": body([user("a")], thinking={"type": "adaptive"}, tool_choice={"type": "any"}),
    "V21": named("a_b-C9"),
    "V21a": named("x" * 128),
    "V21b": named("x" * 64),
    "V22": named("x", "X"),
    "V25": body([user("a")], model="claude-haiku-4-5", max_tokens=64000),
    "V37": body([user("a")], model="claude-opus-4-7", output_config={"effort": "xhigh"}),
    "V37a": body([user("a")], model="claude-opus-4-5", output_config={"effort": "low"}),
    "V38": body([user("a")], model="claude-opus-4-7", temperature=1),
    "V38a": body([user("a")], model="claude-sonnet-4-0", temperature=0, top_p=0.9),
    "V38b": body([user("a")], temperature=1, thinking=THINKS, **ROOM),
    "V40": body([user("a")], model="claude-haiku-4-5"),
    "V41": body([at("https://pictures.org/a.png")]),
    "V41a": body([at("https://8.8.8.8/a.png")]),
    "V39": body([user("a")], output_config=answers({**CLOSED, "properties": {"a": CLOSED}})),
}
