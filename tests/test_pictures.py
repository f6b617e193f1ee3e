"""The picture of the terminal is what the command prints today."""

from __future__ import annotations

import re

import pytest

from tests.pictures import PICTURE, drawing, printed


@pytest.mark.real
def test_the_picture_is_what_is_printed() -> None:
    assert PICTURE.read_text("utf-8") == drawing(printed()), (
        "draw it again: python -m tests.pictures"
    )


def test_the_picture_names_no_other_host() -> None:
    picture = PICTURE.read_text("utf-8")
    assert re.findall(r"url\(|@import|href=", picture.replace("url(#", "(#")) == []
