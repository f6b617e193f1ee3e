"""The types of all values that are read from a file: strict structs, and numbers with bounds."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache, partial
from typing import Annotated, Self, TypeAlias

import msgspec

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
