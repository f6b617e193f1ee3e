"""The document names everything that does not count."""

from __future__ import annotations

from harness.cassettes.request_index import VOLATILE_FIELDS
from tests.documents import ROOT, part

DOCUMENT = ROOT / "docs" / "cassettes.md"


def test_every_volatile_field_is_named() -> None:
    section = part(DOCUMENT, "## What does not count")
    (row,) = (line for line in section.splitlines() if line.startswith("| body |"))
    assert {word.strip(" |") for word in row.split("`")[1::2]} == VOLATILE_FIELDS
