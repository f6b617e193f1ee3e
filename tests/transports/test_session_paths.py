"""A URL names its session in the path, and any name of a chat comes back from it."""

from __future__ import annotations

from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import SessionName
from harness.transports.session_paths import decoded_path, split_session

LETTERS = st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\x7f")


@given(st.text(LETTERS, min_size=1).map(str.strip).filter(lambda name: name not in ("", ".", "..")))
def test_a_quoted_name_is_read_back(name: str) -> None:
    assert msgspec.convert(name, SessionName) == name
    path = f"/s/{quote(name, safe='')}/v1/messages"
    assert split_session(path) == (name, "/v1/messages")
    assert split_session(decoded_path(path)) == (name, "/v1/messages")
    path = f"/v1/s/{quote(name, safe='')}/chat/completions"  # behind the URL of OpenAI's SDK
    assert split_session(decoded_path(path)) == (name, "/v1/chat/completions")


@pytest.mark.parametrize("name", ["", " a", "a ", ".", "..", "a\nb", "a\n", "a\x7f"])
def test_a_name_that_no_url_or_line_holds_is_refused(name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="matching regex"):
        msgspec.convert(name, SessionName)


def test_a_path_without_a_session_is_left_alone() -> None:
    assert split_session("/v1/messages") == ("", "/v1/messages")
