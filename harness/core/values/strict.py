"""The types of all values that are read from a file: strict structs, and numbers with bounds.

The message about a wrong value names the values that its type allows.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache, partial
from typing import Annotated, Any, Self, TypeAlias

import msgspec
from msgspec import inspect

from harness.core.values.errors import NAMES_MOST

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
FromOne: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
SECONDS_MOST = 1_000_000_000
"""Thirty years: no run is longer, and no clock of the system overflows at it (2**63 ns)."""

Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=SECONDS_MOST)]
SecondsEitherWay: TypeAlias = Annotated[float, msgspec.Meta(ge=-SECONDS_MOST, le=SECONDS_MOST)]
Milliseconds: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=SECONDS_MOST * 1000)]


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of all structs that are read from a file: unknown keys are errors."""

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        """Pickle the struct without the fields that have their default.

        `omit_defaults` leaves out a field only if its value is the default object itself, not an
        equal value. Without this method, a worker would write all fields, and its history would
        differ from a run without workers.
        """
        usual = _defaults(type(self))
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        stated = {name: value for name, value in values if value is not usual[name]}
        return partial(type(self), **stated), ()


@cache
def _defaults(kind: Hashable) -> dict[str, object]:
    assert isinstance(kind, type)
    return {field.name: field.default for field in msgspec.structs.fields(kind)}


# The value is not lazy up to the end: a long value would be searched in quadratic time.
_ENUM = re.compile(r"Invalid enum value (?P<value>(?:(?! - at `[^`]*`\Z).)*+)", re.DOTALL)


def wrong_choice(error: str, kind: inspect.Type) -> str:
    """The message of msgspec with the values that a type allows; "" for any other error.

    >>> wrong_choice("Invalid enum value 'opn'", inspect.type_info(Literal["strict", "open"]))
    "'opn' is not one of open, strict"
    """
    found = _ENUM.match(error)
    values = [str(value) for value in _literals(kind)]
    return none_of(found["value"], values) if found and values else ""


_A_NUMBER = re.compile(r"expected `(?:int|float)\b[^`]*`, got `str`", re.IGNORECASE)
_UNITS = {"s": "seconds", "ms": "milliseconds", "mb": "MB", "bytes": "bytes", "tokens": "tokens"}
"""How a name ends whose value is a number of such."""


def text_for_number(error: str, names: Iterable[str]) -> str:
    """What to write where msgspec met a text in place of a number; "" where no name says the unit.

    >>> text_for_number("Expected `float`, got `str`", ["waits_s", "schedule"])
    '; write the number of seconds alone, such as 90'
    """
    units = (_UNITS.get(name.rpartition("_")[2]) for name in names if "_" in name)
    unit = next(filter(None, units), "") if _A_NUMBER.search(error) else ""
    return f"; write the number of {unit} alone, such as 90" if unit else ""


def none_of(value: str, known: Iterable[str]) -> str:
    """The value, and the known ones with the nearest first; no more than ten of them."""
    names = [*known]
    near = difflib.get_close_matches(value.strip("'"), names, n=len(names), cutoff=0.6)
    ordered = [*near, *(name for name in names if name not in near)]
    rest = len(ordered) - NAMES_MOST
    more = f" and {rest} more" if rest > 0 else ""
    return f"{value} is not one of {', '.join(ordered[:NAMES_MOST])}{more}"


def _literals(kind: inspect.Type) -> Iterator[Any]:
    """The values of a literal type, also within a union; empty for any other type."""
    options = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    if any(isinstance(option, inspect.LiteralType) for option in options):
        for option in options:
            yield from _values(option)


def _values(option: inspect.Type) -> Iterator[Any]:
    match option:
        case inspect.LiteralType():
            yield from option.values
        case inspect.IntType() | inspect.FloatType():
            yield "a number"
        case inspect.StructType() | inspect.DictType():
            yield "a mapping"
        case inspect.VarTupleType():
            yield "a list"
