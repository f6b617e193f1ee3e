"""Arguments: an object is read, all else stays the text that it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import Json
from harness.providers.shared.codec import written_arguments_from as arguments_from
from harness.providers.shared.codec import written_arguments_to as arguments_to
from tests.providers.openai_chat.strategies import BROKEN, objects


@given(objects)
def test_an_object_is_read_back(value: Json) -> None:
    assert arguments_from(arguments_to(value)) == value


@given(st.sampled_from(BROKEN) | st.text(max_size=20))
def test_any_other_text_is_kept_to_the_letter(text: str) -> None:
    value = arguments_from(text)
    assert isinstance(value, dict) or value == text
    assert isinstance(value, dict) or arguments_to(value) == text


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_whole_object_is_none(text: str) -> None:
    assert arguments_from(text) == text


@pytest.mark.parametrize("text", ['{"a": 1e999}', '{"a": Infinity}', '{"a":' * 100_000])
def test_what_json_does_not_have_is_text(text: str) -> None:
    assert arguments_from(text) == text


def test_half_an_emoji_is_an_argument_too() -> None:
    assert arguments_from('{"a": "x\\ud83d"}') == {"a": "x\ud83d"}
    assert arguments_to({"a": "x\ud83d"}) == '{"a":"x\\ud83d"}'
