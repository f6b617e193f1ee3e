"""The text about a value that is not one of the known values."""

from __future__ import annotations

import pytest

from harness.core.values.strict import NAMES_MOST, none_of


@pytest.mark.parametrize(("count", "more"), [(NAMES_MOST, ""), (NAMES_MOST + 2, " and 2 more")])
def test_names_beyond_the_tenth_are_counted(count: int, more: str) -> None:
    names = [f"n{number:02}" for number in range(count)]
    assert none_of("'x'", names) == f"'x' is not one of {', '.join(names[:NAMES_MOST])}{more}"
