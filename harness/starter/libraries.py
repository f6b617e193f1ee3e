"""The libraries by which an agent is known, one row each, and which of them a project declares.

A project declares its packages in pyproject.toml, requirements, uv.lock or package.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from harness.core.values.table_file import table


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """An SDK or a framework.

    `wire` is the API that it speaks, "" where that depends. `makes` are the names below `module`
    that make an agent object.
    """

    package: str
    language: Literal["python", "node"]
    module: str
    title: str
    wire: str = ""
    makes: tuple[str, ...] = ()

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


_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_QUOTED = re.compile(
    r"""["']([A-Za-z0-9][A-Za-z0-9._-]*+)\s*+(?:\[[^\]"']*+\]\s*+)?(?:[<>=!~;@][^"']*+)?["']"""
)
_LOCKED = re.compile(r'^name = "([^"]+)"', re.MULTILINE)
_POETRY = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)\s*=", re.MULTILINE)


def declared(files: Mapping[str, str]) -> tuple[Library, ...]:
    """The known libraries that the project's files declare, in the order of the table."""
    python, node = set[str](), set[str]()
    for path, text in files.items():
        name = PurePosixPath(path).name
        if name == "package.json":
            node |= set(_of_package_json(text))
        else:
            python |= {_normal(package) for package in _of_python(name, text)}
    return tuple(
        row
        for row in LIBRARIES.values()
        if (row.module in node if row.language == "node" else _has(python, row.package))
    )


def _has(found: Iterable[str], package: str) -> bool:
    """`pydantic-ai-slim` declares `pydantic-ai`."""
    return any(name in (package, f"{package}-slim") for name in found)


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def _of_python(name: str, text: str) -> Iterator[str]:
    """Yield the packages that a text names; a file that is broken is read as well as it can be."""
    if name == "pyproject.toml":
        yield from _QUOTED.findall(text)
        yield from _POETRY.findall(text)
    elif name == "uv.lock":
        yield from _LOCKED.findall(text)
    elif name.startswith("requirements") and name.endswith((".txt", ".in")):
        for line in text.splitlines():
            if found := _REQUIREMENT.match(line):
                yield found.group(1)


def _of_package_json(text: str) -> Iterator[str]:
    found = package_json(text)
    for key in ("dependencies", "devDependencies", "peerDependencies"):
        packages = found.get(key)
        yield from packages if isinstance(packages, dict) else ()


def package_json(text: str) -> dict[str, Any]:
    """The object of a package.json; {} for any other text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
