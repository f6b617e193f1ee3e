"""The packages that a project declares: pyproject.toml, requirements, uv.lock, package.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from harness.starter.libraries import LIBRARIES, Library

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
