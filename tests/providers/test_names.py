"""Wires by name."""

from __future__ import annotations

import pytest

from harness.core.values.errors import InputError
from harness.providers import by_name, names


@pytest.mark.parametrize("name", names())
def test_a_wire_knows_its_name(name: str) -> None:
    assert by_name(name).name == name


def test_an_unknown_name_is_the_users_error_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no wire is named 'antropic'; did you mean 'anthropic'"):
        by_name("antropic")
