from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import ToolUse
from harness.core.values.plans import Reply
from harness.providers.anthropic.provider import AnthropicProvider
from harness.providers.anthropic.reply import events
from harness.providers.shared.codec import arguments_from, arguments_to
from harness.providers.shared.sse import PIECES_MAX

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
CUT = [
    "{",
    '{"a',
    '{"a":"b',
    '{"n": 12',
    "[1, 2",
    '{"a":1}{"b":2}',
    '{"p": /x}',
    '{"n":NaN}',
    "NaN",
]


@given(JSON)
def test_any_input_comes_back_as_it_was(value: object) -> None:
    assert arguments_from(arguments_to(value)) == value


@pytest.mark.parametrize("text", CUT)
def test_a_text_that_is_no_json_is_sent_as_it_is(text: str) -> None:
    assert arguments_to(text) == text
    assert arguments_from(text) == text


@pytest.mark.parametrize("text", ["1", '"a"', "{}", '{"a":1}', "null"])
def test_a_text_that_is_json_is_sent_as_a_json_string(text: str) -> None:
    assert arguments_to(text) != text
    assert arguments_from(arguments_to(text)) == text


@pytest.mark.parametrize("text", CUT)
def test_a_call_that_was_cut_off_is_read_back_as_it_was_written(text: str) -> None:
    wire, said = AnthropicProvider(), Reply((ToolUse("toolu_1", "t", text),), "max_tokens")
    sends = wire.write(said, Reading("m", (), 0, (), stream=True), "main/model#1", Draws(1))
    parsed = wire.parse(b"".join(send.data for send in sends), "text/event-stream")
    assert parsed.message is not None
    assert (parsed.message.blocks, parsed.stop) == (said.blocks, "max_tokens")


@pytest.mark.parametrize("size", [64 * PIECES_MAX, 64 * PIECES_MAX + 1, 10**6])
def test_a_very_long_text_comes_in_a_bounded_number_of_pieces(size: int) -> None:
    block = {"type": "text", "text": "q" * size}
    frames = events({"content": [block], "stop_reason": None, "usage": {}})
    assert len(frames) <= PIECES_MAX + 5
    assert sum(frame.count(b"q") for frame in frames) == size
