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
    results,
    user,
)
from harness.core.values.plans import Reply

WORDS = ("yes", "a b", "naïve", "日本", "🙂", "\u2028x", 'q"\\', "<&>", "\r\nz", "x" * 150)

words = st.sampled_from(WORDS)
texts = st.lists(words, min_size=1, max_size=4).map(" ".join)
scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | words
json_values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, json_values, max_size=3)

text_blocks = st.builds(
    Text,
    texts | st.just(""),
    st.sampled_from(
        [{}, {"citations": None}, {"citations": []}, {"citations": [{"n": 1}, {"n": 2}]}]
    ),
)
thinking_blocks = st.builds(Thinking, texts | st.just(""), words | st.just("")) | st.builds(
    Thinking, st.just(""), st.just(""), words
)
tool_uses = st.builds(
    ToolUse, words, words, json_values, st.sampled_from([{}, {"caller": {"type": "direct"}}])
)
PASSED_THROUGH: tuple[dict[str, Json], ...] = (
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "é"}},
    {"type": "server_tool_use", "id": "s2", "name": "bash_code_execution", "input": {}},
    {"type": "mcp_tool_use", "id": "m1", "name": "n", "server_name": "s", "input": {"a": [1]}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
    {"type": "web_fetch_tool_result", "tool_use_id": "s1", "content": {"type": "made_up"}},
    {"type": "code_execution_tool_result", "tool_use_id": "s2", "content": {"stdout": "x"}},
    {"type": "mcp_tool_result", "tool_use_id": "m1", "content": "ok", "is_error": False},
    {"type": "container_upload", "file_id": "file_1"},
    {"type": "compaction", "content": "sum", "signature": "x", "tool_changes": []},
    {"type": "compaction", "content": None},
    {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
    {"type": "made_up", "deep": [{"a": None}], "text": 1},
)
"""Blocks that the wire has no name for: they say the same when written again."""

opaque_blocks = st.sampled_from([Opaque(value["type"], value) for value in PASSED_THROUGH])
parts = st.lists(st.builds(Text, texts) | opaque_blocks, max_size=3).map(tuple)
tool_results = st.builds(ToolResult, words, texts | st.just("") | parts, st.booleans())

reply_blocks = text_blocks | thinking_blocks | tool_uses | opaque_blocks
any_block: st.SearchStrategy[Block] = reply_blocks | tool_results
STOPS = ("end_turn", "tool_use", "max_tokens", "refusal", "pause_turn", "made_up", None)
replies = st.builds(
    Reply,
    st.lists(reply_blocks, max_size=4).map(tuple),
    st.sampled_from(STOPS),
    st.sampled_from([{}, {"output_tokens": 7}, {"input_tokens": 1, "speed": "fast"}]),
)


@st.composite
def histories(draw: st.DrawFn, min_rounds: int = 0) -> list[Message]:
    """Messages that every dialect accepts: user, rounds of calls and results, user at the end."""
    messages = [user(draw(texts))]
    made = 0
    for _ in range(draw(st.integers(min_rounds, 4))):
        count = draw(st.integers(0, 3))
        ids = [f"toolu_{made + k}" for k in range(count)]
        made += count
        said: list[Block] = [Text(draw(texts))] if draw(st.booleans()) or not ids else []
        calls = [ToolUse(id_, draw(words), draw(objects)) for id_ in ids]
        messages.append(assistant(*said, *calls))
        if not ids:
            messages.append(user(draw(texts)))
            continue
        answers: list[Block] = [ToolResult(id_, draw(texts)) for id_ in draw(st.permutations(ids))]
        if draw(st.booleans()):
            answers.append(Text(draw(texts)))
        messages.append(Message("user", tuple(answers)))
    return messages


def round_of(id_: str, *more: str) -> list[Message]:
    """A user message, an assistant that calls each id, and the results."""
    ids = (id_, *more)
    calls = assistant(*(ToolUse(i, "read", {}) for i in ids))
    return [user("go"), calls, results(*(ToolResult(i, "ok") for i in ids))]
