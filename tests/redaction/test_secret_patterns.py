"""Keys that go over the line ends of mail, of base64 and of pages."""

from __future__ import annotations

import base64
import json
import quopri
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction.masking import MASK, mask, mask_body
from harness.redaction.secret_patterns import unwrapped
from tests.redaction.secrets import TOKENS

KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b"


@given(st.integers(0, 120), TOKENS)
def test_base64_of_mail_is_one_secret(before: int, key: str) -> None:
    """`encodebytes` wraps at 76 columns."""
    wrapped = base64.encodebytes(b"so " * before + f"it is {key} ".encode() + b"now " * 40).decode()
    assert mask(wrapped).strip() == MASK
    body = json.dumps({"content": wrapped})
    assert json.loads(mask_body(body.encode())) == {"content": f"{MASK}\n"}
    assert base64.b64encode(key.encode())[4:-4].decode() not in mask(body[:-1]), "JSON that is cut"


@pytest.mark.parametrize("columns", [60, 64, 70, 72, 76, 78, 80])
@pytest.mark.parametrize("indent", ["", "    "])
def test_a_page_of_any_usual_width_is_read(columns: int, indent: str) -> None:
    for words in range(20):
        text = "it is " * words + KEY + " and more"
        page = textwrap.fill(text, columns, subsequent_indent=indent, break_on_hyphens=False)
        if indent and KEY not in page:
            continue
        said = mask(page).replace("\n", "").replace(indent, "")
        assert KEY[8:] not in said, page
        assert KEY[:20] not in said, page


@given(st.integers(0, 40), TOKENS)
def test_quoted_printable_is_read(before: int, key: str) -> None:
    coded = quopri.encodestring(f"{'it is ' * before}{key} and more".encode()).decode()
    assert quopri.decodestring(mask(coded)).decode().count(key) == 0


def test_words_at_line_ends_stay_words() -> None:
    page = textwrap.fill("the token is a long word and the secret is known to many " * 30, 76)
    assert mask(page) == page


def test_places_are_those_of_the_text_before() -> None:
    text = f"{'a' * 76}\n{'b' * 76}\nrest"
    joined = unwrapped(text)
    assert joined is not None
    assert joined.text == "a" * 76 + "b" * 76 + "rest"
    assert joined.place(70, 80) == (70, 81)
    assert text[slice(*joined.place(0, 156))] == text
    assert unwrapped("short\nlines\n") is None
