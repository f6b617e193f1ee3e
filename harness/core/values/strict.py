"""What every value that is read from a file is made of: strict structs, and numbers with bounds."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache, partial
from typing import Annotated, Self, TypeAlias

import msgspec

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
FromOne: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all that is read from a file: unknown keys are errors."""

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        """Pickled without what stands at its default.

        `omit_defaults` leaves out a field whose value is the default itself, and not one that is
        equal to it. So a value that came to a worker with all its fields would be written with
        them, and its history would not be that of a run without workers.
        """
        usual = _defaults(type(self))
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        stated = {name: value for name, value in values if value is not usual[name]}
        return partial(type(self), **stated), ()


@cache
def _defaults(kind: Hashable) -> dict[str, object]:
    assert isinstance(kind, type)
    return {field.name: field.default for field in msgspec.structs.fields(kind)}
