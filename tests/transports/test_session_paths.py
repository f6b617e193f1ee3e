"""A URL names its session in the path, and any name of a chat comes back from it."""

from __future__ import annotations

from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import SessionName
from harness.transports.dispatcher import split_session

LETTERS = st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="/#?%")


@given(st.text(LETTERS, min_size=1).map(str.strip).filter(bool))
def test_a_quoted_name_is_read_back(name: str) -> None:
    assert msgspec.convert(name, SessionName) == name
    assert split_session(f"/s/{quote(name)}/v1/messages") == (name, "/v1/messages")


@pytest.mark.parametrize("name", ["", " a", "a ", "a/b", "a#1", "a?b", "a%20b", "a\nb", "a\n"])
def test_a_name_that_parts_a_key_or_a_path_is_refused(name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="matching regex"):
        msgspec.convert(name, SessionName)


def test_a_path_without_a_session_is_left_alone() -> None:
    assert split_session("/v1/messages") == ("", "/v1/messages")
