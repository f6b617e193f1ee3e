"""The values that a type allows, for the message about a wrong value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import inspect

from harness.core.values.errors import NAMES_MOST

_ENUM = re.compile(r"Invalid enum value (?P<value>.*?)(?: - at `.*`)?\Z", re.DOTALL)


def wrong_choice(error: str, kind: inspect.Type) -> str:
    """The message of msgspec with the values that a type allows; "" for any other error.

    >>> wrong_choice("Invalid enum value 'opn'", inspect.type_info(Literal["strict", "open"]))
    "'opn' is not one of open, strict"
    """
    found = _ENUM.match(error)
    values = [str(value) for value in _literals(kind)]
    return none_of(found["value"], values) if found and values else ""


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
