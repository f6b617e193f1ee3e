"""The libraries by which an agent is known: SDKs of models and frameworks, one row each."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Literal

import msgspec

from harness.core.values.table_file import table


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """An SDK or a framework.

    `wire` is the API that it speaks, "" where that depends. `makes` are the names below `module`
    that make an agent object. `call` is how `{agent}` answers `text`, for an object whose tools are
    fixed: no scenario can put its own in their place.
    """

    package: str
    language: Literal["python", "node"]
    module: str
    title: str
    wire: str = ""
    makes: tuple[str, ...] = ()
    call: str = ""

    def makes_agent(self, dotted: str) -> bool:
        """Whether a dotted name of this library makes an agent object."""
        return any(
            dotted.endswith(made[1:]) if made.startswith("*") else dotted == f"{self.module}.{made}"
            for made in self.makes
        )


LIBRARIES: MappingProxyType[str, Library] = table("harness.starter", "libraries.tsv", Library)
"""The libraries by package."""


def of_language(language: str) -> tuple[Library, ...]:
    """The libraries of a language."""
    return tuple(row for row in LIBRARIES.values() if row.language == language)


def imported(modules: Iterable[str], language: str) -> tuple[Library, ...]:
    """The libraries that any of these dotted modules belongs to, in the order of the table."""
    names = tuple(modules)
    return tuple(
        row
        for row in of_language(language)
        if any(name == row.module or name.startswith((f"{row.module}.", f"{row.module}/"))
               for name in names)
    )  # fmt: skip
