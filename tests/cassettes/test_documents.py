"""The document names everything that does not count, and every format."""

from __future__ import annotations

import msgspec

from harness.cassettes.conversion import FORMATS
from harness.cassettes.request_index import VOLATILE_FIELDS
from harness.recordings.readers import compact
from tests.documents import ROOT, part

DOCUMENT = ROOT / "docs" / "cassettes.md"


def test_every_volatile_field_is_named() -> None:
    section = part(DOCUMENT, "## What does not count")
    (row,) = (line for line in section.splitlines() if line.startswith("| body |"))
    assert {word.strip(" |") for word in row.split("`")[1::2]} == VOLATILE_FIELDS


def test_every_line_of_the_compact_form_is_explained() -> None:
    section = part(DOCUMENT, "## The compact form")
    for kind in (
        compact._Opening,
        compact._MessageLine,
        compact._FrameLine,
        compact._ExchangeLine,
        compact._End,
    ):
        (row,) = (
            line
            for line in section.splitlines()
            if line.startswith(f"| `{kind.__struct_config__.tag}` |")
        )
        for field in msgspec.structs.fields(kind):
            assert f"`{field.encode_name}`" in row, field.encode_name


def test_every_format_that_is_written_is_named() -> None:
    section = part(DOCUMENT, "## Converting")
    assert all(f"`{name}`" in section for name in FORMATS)
