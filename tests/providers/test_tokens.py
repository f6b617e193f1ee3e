"""Tokens: deterministic, and growing with what is sent."""

from __future__ import annotations

from hypothesis import given

from harness.core.values.messages import Message, user
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.validator import AnthropicFold
from harness.providers.shared.codec import BYTES_PER_TOKEN, size_bytes, tokens
from tests.providers.anthropic.strategies import histories


def test_four_bytes_are_a_token_and_nothing_is_free() -> None:
    assert [tokens(size) for size in (0, 3, 4, 7, 400)] == [1, 1, 1, 1, 100]
    assert tokens(size_bytes("x" * 4000)) >= 4000 // BYTES_PER_TOKEN


@given(histories())
def test_the_size_is_the_sum_of_the_messages_and_goes_back_with_them(
    messages: list[Message],
) -> None:
    fold = AnthropicFold(RECORD.dialects.default)
    fold.extend([(message, None) for message in messages])
    assert fold.state.size_bytes == sum(map(size_bytes, messages))
    fold.rewind(len(messages) - 1)
    assert fold.state.size_bytes == sum(map(size_bytes, messages[:-1]))


def test_half_an_emoji_has_a_size_too() -> None:
    assert size_bytes(user("\ud83d")) > size_bytes(user(""))
