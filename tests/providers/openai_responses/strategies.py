"""Strategies: blocks, replies and conversations in the form in which this wire reads them."""

from __future__ import annotations

import msgspec
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
    results,
    user,
)
from harness.core.values.plans import Reply
from harness.providers.openai_responses.reply import finished
from tests.providers.anthropic.strategies import objects, texts, words

encrypted = st.sampled_from(["", "gAAAAA1", "x"])
thinking_blocks = (
    st.builds(Thinking, texts, encrypted)
    | st.builds(Thinking, texts | st.just(""), st.just("rs_kept"))
    | st.builds(lambda hidden: Thinking(redacted=hidden), encrypted)
)
inputs = objects | st.sampled_from(['{"a": 1', "12", "", "null", '"x"'])
tool_uses = st.builds(
    ToolUse, words, words, inputs, st.sampled_from([{}, {"caller": {"type": "direct"}}])
)
opaque_items = st.sampled_from(
    [
        Opaque("web_search_call", {"type": "web_search_call", "id": "ws_1", "status": "completed"}),
        Opaque("compaction", {"type": "compaction", "id": "c1", "encrypted_content": "é"}),
        Opaque("item_reference", {"type": "item_reference", "id": "msg_9"}),
        Opaque("made_up", {"type": "made_up", "deep": [{"a": None}]}),
        Opaque(
            "reasoning",
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": t} for t in "ab"],
            },
        ),
        Opaque(
            "message",
            {"type": "message", "role": "assistant", "content": [{"type": "made_up"}]},
        ),
    ]
)
part_extras = st.sampled_from(
    [{}, {"annotations": [{"type": "file_path", "index": 1}]}, {"type": "refusal"}]
)
text_parts = st.builds(Text, texts | st.just(""), part_extras)
other_parts = st.sampled_from([Opaque("input_image", {"type": "input_image", "detail": "low"})])


@st.composite
def said(draw: st.DrawFn, min_size: int = 0) -> tuple[Block, ...]:
    """What an assistant says: texts in messages, reasoning, calls, items of other kinds."""
    blocks: list[Block] = []
    after_message = False
    for _ in range(draw(st.integers(min_size, 4))):
        if is_message := draw(st.booleans()):
            first, *more = draw(st.lists(text_parts, min_size=1, max_size=3))
            fields = draw(st.sampled_from([None, {"phase": "commentary"}]))
            if fields is not None or after_message:
                extra = {**first.extra, "message": fields or {}}
                first = msgspec.structs.replace(first, extra=extra)
            blocks += [first, *more]
        else:
            blocks.append(draw(thinking_blocks | tool_uses | opaque_items))
        after_message = is_message
    return tuple(blocks)


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """Replies whose stop is that of the output, or one that the wire can say beside it."""
    blocks = draw(said())
    stops = [finished(blocks), "max_tokens", "refusal", "pause_turn", "made_up", None]
    usage: dict[str, Json] = draw(
        st.sampled_from([{}, {"output_tokens": 7}, {"input_tokens": 1, "speed": "fast"}])
    )
    return Reply(blocks, draw(st.sampled_from(stops)), usage)


@st.composite
def histories(draw: st.DrawFn, min_rounds: int = 0) -> list[Message]:
    """Messages that every dialect accepts: user, rounds of calls and results, user at the end."""
    messages = [user(draw(texts))]
    made = 0
    for _ in range(draw(st.integers(min_rounds, 4))):
        ids = [f"call_{made + k}" for k in range(draw(st.integers(0, 3)))]
        made += len(ids)
        said: list[Block] = [Text(draw(texts))] if draw(st.booleans()) or not ids else []
        said = [Thinking(draw(texts), "gAAAAA1"), *said] if draw(st.booleans()) else said
        messages.append(
            Message("assistant", (*said, *(ToolUse(id_, "read", draw(objects)) for id_ in ids)))
        )
        answers: list[Block] = [ToolResult(id_, draw(texts)) for id_ in draw(st.permutations(ids))]
        if not ids or draw(st.booleans()):
            answers.append(Text(draw(texts)))
        messages.append(Message("user", tuple(answers)))
    return messages


def round_of(id_: str, *more: str) -> list[Message]:
    """A user message, an assistant that calls each id, and the results."""
    ids = (id_, *more)
    calls = Message("assistant", tuple(ToolUse(i, "read", {}) for i in ids))
    return [user("go"), calls, results(*(ToolResult(i, "ok") for i in ids))]
