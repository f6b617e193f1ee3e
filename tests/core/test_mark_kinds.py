"""What a kind of mark says, and details that stay JSON of bounded size for any value."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.mark_kinds import (
    DEPTH_MOST,
    MEANINGS,
    PARTS_MOST,
    MarkKind,
    bounded,
    is_broken,
    is_met,
    is_owed,
)

_PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
VALUES = st.recursive(
    _PLAIN | st.builds(object),
    lambda part: (
        st.lists(part) | st.dictionaries(st.text() | st.integers(), part) | st.sets(_PLAIN)
    ),
    max_leaves=200,
)


def _short(text: str) -> str:
    return text[:10]


def _parts(value: Any, depth: int = 0) -> Iterator[tuple[Any, int]]:
    yield value, depth
    for part in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _parts(part, depth + 1)


class Odd(Mapping[str, int]):
    """A mapping whose items raise."""

    def __getitem__(self, key: str) -> int:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("not now")

    def __len__(self) -> int:
        return 1


class Telling:
    """An object whose text must not be asked for."""

    def __repr__(self) -> str:
        raise AssertionError("asked")


@given(VALUES)
def test_details_are_json_of_bounded_size(value: object) -> None:
    said = bounded(value, _short)
    assert msgspec.json.decode(json.dumps(said)) == said
    parts = list(_parts(said))
    assert len(parts) <= 2 * PARTS_MOST
    assert max(depth for _, depth in parts) <= DEPTH_MOST
    assert all(len(part) <= 20 for part, _ in parts if isinstance(part, str))


@given(
    st.dictionaries(st.text(max_size=9), st.integers(-9, 9) | st.booleans() | st.text(max_size=9))
)
def test_small_details_stay_as_they_are(value: dict[str, object]) -> None:
    assert bounded(value, _short) == value


@pytest.mark.parametrize(
    ("value", "said"),
    [(Odd(), "(details that cannot be read)"), (Telling(), "(Telling)"), (1 << 70, "(int)"),
     (math.inf, "inf"), ({"a": Telling()}, {"a": "(Telling)"}), ((1, 2), [1, 2])],
)  # fmt: skip
def test_a_value_that_json_cannot_say_is_named(value: object, said: object) -> None:
    assert bounded(value, _short) == said


def test_each_kind_has_its_meaning() -> None:
    kinds: tuple[MarkKind, ...] = get_args(
        MarkKind.__value__ if hasattr(MarkKind, "__value__") else MarkKind
    )
    assert set(kinds) == set(MEANINGS)
    assert {kind for kind in kinds if is_broken(kind, False)} == {"always", "unreachable"}
    assert not any(is_broken(kind, holds) for kind in kinds for holds in (True, None))
    assert {kind for kind in kinds if is_met(kind, False)} == {"always", "unreachable"}
    assert all(is_met(kind, True) and not is_met(kind, None) for kind in kinds)
    assert {kind for kind in kinds if not is_owed(kind)} == {"unreachable"}
