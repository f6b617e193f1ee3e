"""Strategies: JSON, blocks, replies, and histories that are valid by construction.

Small integers that index tables are drawn rather than free text where the text does not matter.
"""

from __future__ import annotations

from hypothesis import strategies as st

from harness.core.values.messages import (
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
from harness.core.values.plans import Reply

WORDS = ("yes", "a b", "naïve", "日本", "🙂", "\u2028x", 'q"\\', "<&>", "\r\nz", "x" * 150)
BROKEN = (
    '{"a": 1',
    '{"a"',
    "",
    "[1]",
    "null",
    "12",
    '"a"',
    '{"a": NaN}',
    "{} x",
    "{'a': 1}",
    "[" * 5,
)

words = st.sampled_from(WORDS)
texts = st.lists(words, min_size=1, max_size=4).map(" ".join)
scalars = st.none() | st.booleans() | st.integers(-(10**15), 10**15) | words
json_values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, json_values, max_size=3)
arguments = objects | st.sampled_from(BROKEN)
names = st.sampled_from(["read", "write_file", "mcp__x-y"])
ids = st.integers(0, 99).map(lambda n: f"call_{n}")

tool_uses = st.builds(ToolUse, ids, names, arguments)
odd_uses = st.builds(
    ToolUse,
    ids,
    names,
    arguments,
    st.sampled_from([{"index": 1}, {"type": None}, {"function": {"strict": True}}, {"x": [1]}]),
)
custom_uses = st.builds(ToolUse, ids, names, texts, st.just({"type": "custom"}))
calls = tool_uses | odd_uses | custom_uses
_LEGACY = {"type": "function_call"}
legacy = names.flatmap(
    lambda name: st.builds(ToolUse, st.just(name), st.just(name), arguments, st.just(_LEGACY))
)

parts = st.builds(Text, texts, st.sampled_from([{}, {"annotations": [1]}])) | st.sampled_from(
    [
        Opaque("image_url", {"type": "image_url", "image_url": {"url": "data:x"}}),
        Opaque("input_audio", {"type": "input_audio", "input_audio": {"data": "é"}}),
        Opaque("file", {"type": "file", "file": {"file_id": "f"}}),
        Opaque("refusal", {"type": "refusal", "refusal": "no"}),
        Opaque("brand_new", {"type": "brand_new", "x": None}),
        Opaque("", {"no": "type"}),
        Opaque("text", {"type": "text"}),
        Opaque("tool_call", {"type": "tool_call", "x": 1}),
        Opaque("", {"type": "type"}),
    ]
)
fields = st.lists(
    st.sampled_from(
        [
            Opaque("name", {"name": "bob"}),
            Opaque("refusal", {"refusal": "no"}),
            Opaque("audio", {"audio": {"id": "a"}}),
            Opaque("type", {"type": "message"}),
            Opaque("brand_new", {"brand_new": [None]}),
        ]
    ),
    max_size=2,
    unique_by=lambda block: block.kind,
)
contents = st.lists(parts, max_size=3) | st.lists(st.builds(Text, st.just("")), max_size=1)
thoughts = st.lists(st.builds(Thinking, texts), max_size=1)


@st.composite
def rows(draw: st.DrawFn) -> Message:
    """A message as this wire can hold it: a row."""
    role = draw(st.sampled_from(["user", "assistant", "system", "developer", "tool", "function"]))
    blocks: list[Block] = []
    if role in ("tool", "function"):
        said = draw(texts | st.just("") | st.lists(parts, min_size=1, max_size=2).map(tuple))
        blocks.append(ToolResult(draw(ids), said))
        known = {"function": "name"}.get(role)
        return Message(role, (*blocks, *(b for b in draw(fields) if b.kind != known)))
    blocks += [*draw(thoughts), *draw(contents), *draw(fields)]
    if role == "assistant":
        blocks += draw(st.lists(calls, max_size=3)) + draw(st.lists(legacy, max_size=1))
    return Message(role, tuple(blocks))


STOPS = ("end_turn", "tool_use", "max_tokens", "refusal", "made_up", None)


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """A reply that this wire can say."""
    blocks: list[Block] = [*draw(thoughts), *map(Text, draw(st.lists(texts, max_size=1)))]
    blocks += [Opaque("refusal", {"refusal": text}) for text in draw(st.lists(texts, max_size=1))]
    blocks += draw(st.lists(calls.filter(_is_usual), max_size=3))
    usages: list[dict[str, Json]] = [{}, {"output_tokens": 7}, {"input_tokens": 1, "speed": "x"}]
    usage = draw(st.sampled_from(usages))
    return Reply(tuple(blocks), draw(st.sampled_from(STOPS)), usage)


def _is_usual(call: ToolUse) -> bool:
    """Whether a call has its `type`, and no `index`, which chunks need for themselves."""
    return "index" not in call.extra and call.extra.get("type", "") is not None


@st.composite
def histories(draw: st.DrawFn, min_rounds: int = 0) -> list[Message]:
    """Rows that every dialect accepts: perhaps a system row, user, rounds of calls and results."""
    messages = [Message("system", (Text(draw(texts)),))] if draw(st.booleans()) else []
    messages.append(user(draw(texts)))
    made = 0
    for _ in range(draw(st.integers(min_rounds, 4))):
        own = [f"call_{made + k}" for k in range(draw(st.integers(0, 3)))]
        made += len(own)
        said: list[Block] = [Text(draw(texts))] if draw(st.booleans()) or not own else []
        uses = [ToolUse(id_, draw(names), draw(objects)) for id_ in own]
        messages.append(assistant(*said, *uses))
        for id_ in draw(st.permutations(own)):
            messages.append(Message("tool", (ToolResult(id_, draw(texts)),)))
        if not own:
            messages.append(user(draw(texts)))
    return messages


def round_of(id_: str, *more: str) -> list[Message]:
    """A user message, an assistant that calls each id, and a row for each result."""
    own = (id_, *more)
    asks = assistant(*(ToolUse(i, "read", {}) for i in own))
    return [user("go"), asks, *(Message("tool", (ToolResult(i, "ok"),)) for i in own)]
