"""What a recording format is: a function, recognised by the name of its first parameter.

`document` takes the bytes of a file; `lines` takes lines with their line feeds, of a file of any
size; `tables` takes the tables of a SQLite database. Formats of the harness and of plug-ins have
this one shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar

import msgspec

from harness.core.values.errors import InputError
from harness.parts.loading import Plugin
from harness.recordings.half_read import with_doubts
from harness.recordings.session_log import split
from harness.recordings.tables import Tables
from harness.recordings.transcripts import Recording, readable

Reader = Callable[[Any], Recording | None]
"""A format's function."""

_TAKES = ("document", "lines", "tables")
"""The names of a first parameter by which a format is recognised."""

_F = TypeVar("_F", bound=Reader)
_R = TypeVar("_R")


class Format(msgspec.Struct, frozen=True):
    """A format: its full name, its title, its function, and whether that reads line by line, or the
    tables of a database."""

    name: str
    title: str
    function: Reader
    by_lines: bool = False
    by_tables: bool = False

    @property
    def fits_others(self) -> bool:
        """Whether it fits files of other formats too, so that it is tried after them."""
        return bool(getattr(self.function, "fits_others", False))

    def recognises(self, document: bytes) -> bool:
        """Whether bytes are in this format; they may be only the beginning of a file."""
        test = _test_of(self.function)
        if test is not None:
            return test(document)
        try:
            return self._call(document) is not None
        except InputError:  # a format refuses only its own files, and this one may be cut
            return True

    def attempt(self, document: bytes) -> Recording | None:
        """The recording that bytes hold; None for another format.

        Raises InputError for bytes that are in this format and cannot be read.
        """
        test = _test_of(self.function)
        if test is not None and not test(document):
            return None
        found = self._call(document)
        return None if found is None else self._named(found)

    def read(self, document: bytes) -> Recording:
        """The recording that bytes hold, without asking whether they are in this format first.

        Raises InputError for bytes that cannot be read.
        """
        return self._wanted(self._call(document))

    def read_lines(self, lines: Iterable[bytes]) -> Recording:
        """The recording that lines hold; raises InputError as `read` does."""
        if not self.by_lines:
            return self.read(b"".join(lines))
        return self._wanted(self.function(lines))

    def read_tables(self, tables: Tables) -> Recording | None:
        """The recording that a database holds; None for one of another format.

        Raises InputError for one of this format that cannot be read.
        """
        found = self.function(tables) if self.by_tables else None
        return None if found is None else self._named(found)

    def _call(self, document: bytes) -> Recording | None:
        if self.by_tables:
            return None
        return self.function(split(document) if self.by_lines else document)

    def _wanted(self, found: Recording | None) -> Recording:
        if found is None:
            raise InputError(f"not in the format {self.name} ({self.title})", "line 1")
        return self._named(found)

    def _named(self, found: Recording) -> Recording:
        return msgspec.structs.replace(with_doubts(readable(found)), format=self.name)


def recognised_by(
    test: Callable[[bytes], bool], *, fits_others: bool = False
) -> Callable[[_F], _F]:
    """Let `test` say whether bytes are in a format, so that its function is called only then.

    The test is asked about the beginning of a file first, and about all of it where that says no. A
    format that also fits files of other formats is tried after them.
    """

    def mark(function: _F) -> _F:
        function.__dict__.update(recognised_by=test, fits_others=fits_others)
        return function

    return mark


def _test_of(function: Reader) -> Callable[[bytes], bool] | None:
    return getattr(function, "recognised_by", None)


def format_from(function: Reader, name: str = "") -> Format:
    """The format that a function is; `name` is that of the function without one.

    Raises InputError for a function whose first parameter is none of `document`, `lines`, `tables`.
    """
    first, own = _first_parameter(function), getattr(function, "__name__", "format")
    if first not in _TAKES:
        what = "its first parameter is `document`, `lines` or `tables`"
        raise InputError(f"{own} is not a format: {what}")
    title = (function.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return Format(name or own, title, function, first == "lines", first == "tables")


def is_reader(function: Callable[..., object]) -> bool:
    """Whether a function is a format, by its first parameter."""
    return _first_parameter(function) in _TAKES


def _first_parameter(function: Callable[..., object]) -> str:
    code = getattr(function, "__code__", None)
    return code.co_varnames[0] if code is not None and code.co_argcount else ""


def parts_of(plugin: Plugin) -> Mapping[str, Format]:
    """The formats that a plug-in brings, by their names without its prefix."""
    found: dict[str, Format] = {}
    for name, function in plugin.functions.items():
        if is_reader(function):
            own = format_from(function, f"{plugin.prefix}.{name}")
            found[name] = msgspec.structs.replace(own, function=_guarded(function, own.name))
    return found


def _guarded(function: Callable[..., Any], name: str) -> Callable[..., Recording | None]:
    """A plug-in's function whose failures name its format: it gets files of all kinds."""
    called, test = _in_words(function, name), _test_of(function)

    @wraps(function)
    def read(given: Any) -> Recording | None:
        found = called(given)
        if found is None or isinstance(found, Recording):
            return found
        more = f"it returned a {type(found).__name__}, not a Recording"
        raise InputError(f"the format {name} failed", more=more)

    return read if test is None else recognised_by(_in_words(test, name))(read)


def _in_words(function: Callable[..., _R], name: str) -> Callable[[Any], _R]:
    @wraps(function)
    def call(given: Any) -> _R:
        try:
            return function(given)
        except (InputError, MemoryError, RecursionError):
            raise
        except Exception as error:
            words = " ".join(str(error).split())
            more = f"{type(error).__name__}: {words}"
            raise InputError(f"the format {name} failed", more=more) from error

    return call
