"""The name of what is shrunk."""

from __future__ import annotations

import pytest

from harness.cli.shrink_source import kebab


@pytest.mark.parametrize(
    ("text", "name"),
    [("valid_request.V4", "valid-request-v4"), ("a--b.", "a-b"), ("Übung", "bung")],
)
def test_names_in_kebab_case(text: str, name: str) -> None:
    assert kebab(text) == name
