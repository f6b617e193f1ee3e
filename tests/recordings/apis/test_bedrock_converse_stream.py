"""Streams of Bedrock Converse: put together, they are the answer that was not streamed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import Text, Thinking, ToolUse
from harness.recordings.apis.bedrock_converse import BEDROCK_CONVERSE
from tests.recordings.test_event_stream import named

KIND = "application/vnd.amazon.eventstream"


def _delta(index: int, **delta: Any) -> bytes:
    return named("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})


def _start(index: int, **start: Any) -> bytes:
    return named("contentBlockStart", {"contentBlockIndex": index, "start": start})


BEGIN = named("messageStart", {"role": "assistant"})
END = named("messageStop", {"stopReason": "tool_use"})


def test_a_stream_is_put_together() -> None:
    data = b"".join(
        (
            BEGIN,
            _delta(0, reasoningContent={"text": "h"}),
            _delta(0, reasoningContent={"text": "m"}),
            _delta(0, reasoningContent={"signature": "s"}),
            _delta(1, text="two "),
            _delta(1, text="files"),
            _start(2, toolUse={"toolUseId": "t", "name": "f"}),
            _delta(2, toolUse={"input": '{"x"'}),
            _delta(2, toolUse={"input": ": 1}"}),
            named("contentBlockStop", {"contentBlockIndex": 2}),
            _start(3, toolUse={"toolUseId": "u", "name": "g"}),
            END,
            named("metadata", {"usage": {}}),
        )
    )
    parsed = BEDROCK_CONVERSE.answer(data, KIND)
    assert parsed.message is not None
    assert parsed.message.blocks == (
        Thinking("hm", "s"), Text("two files"), ToolUse("t", "f", {"x": 1}), ToolUse("u", "g", {}),
    )  # fmt: skip
    assert (parsed.stop, parsed.complete) == ("tool_use", True)


def test_a_stream_without_an_end_is_not_complete() -> None:
    data = BEGIN + _start(0, toolUse={"toolUseId": "t", "name": "f"})
    parsed = BEDROCK_CONVERSE.answer(data + _delta(0, toolUse={"input": '{"x'}), KIND)
    assert parsed.message is not None
    assert parsed.message.blocks == (ToolUse("t", "f", '{"x'),)
    assert not parsed.complete


def test_an_exception_is_an_error() -> None:
    broken = named("throttlingException", {"message": "slow down"}, ":exception-type")
    parsed = BEDROCK_CONVERSE.answer(BEGIN + _delta(0, text="a") + broken, KIND)
    assert parsed.message is None
    assert parsed.error is not None
    assert (parsed.error.type, parsed.error.message) == ("throttlingException", "slow down")


@pytest.mark.parametrize("data", [b"", END, named("x", {})])
def test_a_stream_that_says_nothing_is_no_answer(data: bytes) -> None:
    parsed = BEDROCK_CONVERSE.answer(data, KIND)
    assert (parsed.message, parsed.complete) == (None, False)


_NAMES = ["messageStart", "contentBlockStart", "contentBlockDelta", "messageStop", "Exception"]
_WORDS = ["contentBlockIndex", "start", "delta", "toolUse", "input", "text", "reasoningContent",
          "toolUseId", "name", "stopReason", "message"]  # fmt: skip
_JSON = st.recursive(
    st.none() | st.integers(-1, 2) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(st.lists(st.tuples(st.sampled_from(_NAMES), _JSON), max_size=5))
def test_any_events_are_read(events: list[tuple[str, Any]]) -> None:
    parsed = BEDROCK_CONVERSE.answer(b"".join(named(*event) for event in events), KIND)
    assert parsed.message is None or isinstance(parsed.message.blocks, tuple)
