"""The constants of the reference agent, and the ranges in which they may be drawn.

The ranges stand in `ranges.tsv`. A range is `LEAST..MOST`, or words with `|` between them. A choice
of 0 is the shipped constant, so a drawn policy shrinks towards the shipped one.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from hypothesis import strategies as st

from harness.core.values.errors import InputError, nearest
from harness.fuzz.choice_sequence import Choose, pick
from harness.strategies import drawn

TABLE = Path(__file__).with_name("ranges.tsv")
STEPS = 20
TRIES_MAX = 6
"""The SDK and the loop share the budget of one request: `retry_budget.attempts`."""

Value: TypeAlias = int | float | str


class Range(msgspec.Struct, frozen=True):
    """One constant: its shipped value first, then the values of its range."""

    constant: str
    values: tuple[Value, ...]
    setting: str
    meaning: str

    @property
    def shipped(self) -> Value:
        """The value of the reference agent."""
        return self.values[0]


class Constants:
    """A policy. Its `repr` is a line to paste: the constants that are not the shipped ones."""

    def __init__(self, changed: Mapping[str, Value]) -> None:
        self.changed = dict(changed)
        self._values = {name: each.shipped for name, each in ranges().items()} | self.changed

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        return f"constants({', '.join(f'{n}={v!r}' for n, v in self.changed.items())})"


def constants(**changed: Value) -> Constants:
    """The shipped constants with some changed.

    Raises InputError for a name or a value of no range.
    """
    for name, value in changed.items():
        if name not in ranges():
            raise InputError(
                f"there is no constant {name!r}; {nearest(name, ranges())}", str(TABLE)
            )
        values = ranges()[name].values
        numbers = [v for v in values if not isinstance(v, str)]
        if not (value in values or (numbers and min(numbers) <= value <= max(numbers))):  # type: ignore[operator]
            raise InputError(f"{name}={value!r} is out of its range", str(TABLE))
    return Constants(changed)


@cache
def ranges() -> dict[str, Range]:
    """The rows of the table, by constant."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {row["constant"]: _range(row) for row in rows}


def _range(row: Mapping[str, str]) -> Range:
    shipped, least, most = row["shipped"], *row["range"].partition("..")[::2]
    values: Sequence[Value] = row["range"].split("|")
    if most:
        number = float if "." in shipped else int
        low, high = number(least), number(most)
        steps = STEPS if isinstance(low, float) else min(STEPS, int(high - low)) or 1
        values = [round(low + number(i * (high - low) / steps), 3) for i in range(steps + 1)]
        return Range(row["constant"], (number(shipped), *values), row["setting"], row["meaning"])
    return Range(row["constant"], (shipped, *values), row["setting"], row["meaning"])


def draw(choose: Choose) -> Constants:
    """Constants of which every second is drawn from its range."""
    changed: dict[str, Value] = {}
    for name, each in ranges().items():
        value = pick(choose, each.values) if choose(2) else each.shipped
        if value != each.shipped:
            changed[name] = value
    return Constants(_within_the_budget(changed))


def _within_the_budget(changed: dict[str, Value]) -> dict[str, Value]:
    """The constants with as many broken streams as the tries of the SDK leave room for, but one."""
    whole = Constants(changed)
    most = max(1, TRIES_MAX // whole.attempts - 1)
    return changed | {"broken_streams": most} if whole.broken_streams > most else changed


def policies() -> st.SearchStrategy[Constants]:
    """Policies that shrink towards the shipped constants."""
    return drawn(draw)
