"""The configuration: `[tool.harness]` of pyproject.toml, or harness.toml.

It can name modules to import, so it is read only from the folder in which a command starts. A
scenario from elsewhere brings no configuration with it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.core.values.errors import InputError, nearest

PYPROJECT, OWN_FILE = "pyproject.toml", "harness.toml"


class Configuration(NamedTuple):
    """What the start folder configures; `file` is "" where nothing does."""

    file: str = ""
    plugins: tuple[str, ...] = ()


def load_configuration(folder: Path) -> Configuration:
    """The configuration of a folder.

    Raises InputError `FILE:LINE: …` for a file that is no TOML, a key that is unknown or has a
    wrong value, and where both files configure.
    """
    project = _File(folder / PYPROJECT, ("tool", "harness"))
    own = _File(folder / OWN_FILE, ())
    if project.keys is None or own.keys is None:
        return (own if project.keys is None else project).configuration()
    raise InputError(f"{PYPROJECT} has [tool.harness] too: keep one of them", str(own.path))


class _File:
    def __init__(self, path: Path, table: tuple[str, ...]) -> None:
        self.path, self._table = path, table
        self._text = _text(path)
        found: Any = None if self._text is None else self._parsed(self._text)
        for name in table:
            found = found.get(name) if isinstance(found, Mapping) else None
        if found is not None and not isinstance(found, Mapping):
            raise self._error(table[-1], "a table is expected")
        self.keys: Mapping[str, Any] | None = found

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            what, _, place = str(error).partition(" (at line ")
            line = place.partition(",")[0]
            at = f"{self.path}:{line}" if line.isdecimal() else str(self.path)
            raise InputError(f"no TOML: {what}", at) from None

    def configuration(self) -> Configuration:
        if self.keys is None:
            return Configuration()
        values: dict[str, Any] = {}
        for key, value in self.keys.items():
            if key not in _READERS:
                raise self._error(key, f"unknown; {nearest(key, _READERS)}")
            try:
                values[key] = _READERS[key](value)
            except ValueError as error:
                raise self._error(key, str(error)) from None
        return Configuration(str(self.path), **values)

    def _error(self, key: str, what: str) -> InputError:
        return InputError(f"key `{key}`: {what}", f"{self.path}:{self._line(key)}")

    def _line(self, key: str) -> int:
        """Return the line of a key; else that of the table, or 1."""
        table = ".".join(self._table)
        named = re.compile(rf"""(\[+({re.escape(table)}\.)?)?["']?{re.escape(key)}["']?[=.\]]""")
        at, inside = 1, not table
        for number, line in enumerate((self._text or "").splitlines(), 1):
            written = "".join(line.split())
            if table and written.startswith("["):
                inside = written.lstrip("[").startswith(table)
                at = number if inside and at == 1 else at
            if inside and named.match(written):
                return number
        return at


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", str(path)) from None


def _module_names(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(name, str) and name for name in value):
        return tuple(value)
    raise ValueError('a list of module names is expected, as in ["my_parts"]')


_READERS: Mapping[str, Callable[[object], Any]] = {"plugins": _module_names}
"""Each key that configures something today, and how its value is read."""
