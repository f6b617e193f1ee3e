"""Signed summaries: asked for by the official runner, sent back first, refused when changed."""

from __future__ import annotations

from typing import Any

import anthropic
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import Turn
from harness.core.values.messages import Json, Opaque, Text, ToolUse
from harness.core.values.plans import Reply
from harness.providers.anthropic import compaction
from harness.providers.anthropic.blocks import message_from
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.validator import refuse
from tests.http_library import since_2
from tests.providers.anthropic.strategies import texts
from tests.providers.anthropic.test_request import look
from tests.providers.anthropic.world import called, in_process, run

ASK: dict[str, Any] = {"model": "m", "max_tokens": 100}
GO: list[Any] = [{"role": "user", "content": "go"}]
SUMMARIZE = {"type": "summarize"}


@since_2
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("thread", [True, False])
def test_the_runner_compacts_and_goes_on(stream: bool, thread: bool) -> None:
    transition = run(
        Turn(use="look", input={"where": "here"}),
        Turn(say="So far nothing.", purpose="compact"),
        Turn(say="Done."),
    )
    settings: dict[str, Any] = {} if thread else {"thread": False}
    with in_process(transition) as client:
        runner = client.beta.messages.tool_runner(
            tools=[look], messages=GO, stream=stream, **ASK, **settings
        )
        for n, _ in enumerate(runner):
            if n == 0:
                runner.compact_before_next_turn()
    before, compact, after = called(transition)
    assert [event.purpose for event in (before, compact, after)] == ["main", "compact", "main"]
    assert [event.refused for event in (before, compact, after)] == [()] * 3
    last = transition.history.trace.exchanges[-1]
    (first, *_) = last.node.messages
    assert isinstance(first.blocks[0], Opaque)
    assert first.blocks[0].value["content"] == "So far nothing."
    assert last.reply is not None
    assert last.reply.text == "Done."


@since_2
def test_a_summary_is_the_whole_answer() -> None:
    transition = run(Turn(say="sum", purpose="compact"))
    with in_process(transition) as client:
        message = client.beta.messages.create(messages=GO, compaction=SUMMARIZE, **ASK)
    assert message.stop_reason == "compaction"
    assert [block.type for block in message.content] == ["compaction"]
    assert message.content[0].content == "sum"


@since_2
def test_a_script_may_say_the_block_itself() -> None:
    block = {"type": "compaction", "content": None}
    transition = run(Turn(blocks=(block,), stop="compaction", purpose="compact"))
    with in_process(transition) as client:
        message = client.beta.messages.create(messages=GO, compaction=SUMMARIZE, **ASK)
        again = [message.to_param(), *GO] if hasattr(message, "to_param") else GO
        with pytest.raises(anthropic.BadRequestError, match="the script has ended"):
            client.beta.messages.create(messages=again, **ASK)
    assert message.content[0].content is None
    assert called(transition)[-1].refused == ()


def test_the_context_edits_are_taken() -> None:
    edits = {"edits": [{"type": "compact_20260112"}, {"type": "clear_tool_uses_20250919"}]}
    transition = run(Turn(say="a"))
    with in_process(transition) as client:
        message = client.beta.messages.create(messages=GO, context_management=edits, **ASK)
    assert message.content[0].text == "a"


def test_a_reply_that_is_no_plain_text_stays_as_it_is() -> None:
    for reply in (Reply((ToolUse("t", "n", {}),), "tool_use"), Reply((Text("a"),), "refusal")):
        assert compaction.summary_of(reply) == reply


def test_a_block_of_the_older_edit_may_stand_anywhere() -> None:
    block = {"type": "compaction", "content": "sum", "encrypted_content": "x"}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [block, {"type": "text", "text": "b"}]},
        {"role": "user", "content": "c"},
    ]
    assert refuse([message_from(m) for m in messages], RECORD.dialects.default) == ()


@given(texts, texts, st.sampled_from(["content", "tool_changes", "signature"]))
def test_each_part_of_a_summary_is_signed(content: str, other: str, part: str) -> None:
    signed = compaction.signed(Opaque("compaction", {"type": "compaction", "content": content}))
    assert isinstance(signed, Opaque)
    changed: dict[str, Json] = {
        "content": content + other,
        "tool_changes": [other],
        "signature": signed.value["signature"][:-4],
    }
    rows = [[signed.value], [{**signed.value, part: changed[part]}]]
    found = []
    for blocks in rows:
        messages = [{"role": "assistant", "content": blocks}, *GO]
        read = [message_from(msgspec.json.decode(msgspec.json.encode(m))) for m in messages]
        found.append([v.rule for v in refuse(read, RECORD.dialects.default)])
    names = {"signature": "signature_invalid"}
    assert found == [[], [f"compaction_{names.get(part, part + '_mismatch')}"]]
