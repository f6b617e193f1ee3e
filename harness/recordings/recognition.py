"""Bytes of any known format in, a recording out.

Content alone decides the format. Formats of plug-ins are tried first, in load order. Ours follow in
the order of their names; those that fit files of other formats too come last. The beginning of a
line log is enough, so the whole need not be in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.table_file import table
from harness.parts.loading import Kind, Plugin
from harness.parts.part import Part
from harness.recordings import json_documents, zip_archive
from harness.recordings.recording_format import Format, format_from, is_reader, parts_of
from harness.recordings.session_log import first_objects
from harness.recordings.tables import MAGIC as DATABASE
from harness.recordings.tables import Tables, has
from harness.recordings.transcripts import Recording

AUTO = "auto"
"""What stands in place of a format's name where the content is to say it."""

_HEAD_BYTES = 8192


def _own(file: Plugin) -> Mapping[str, Format]:
    readers = {n: f for n, f in file.functions.items() if is_reader(f)}
    return {name: format_from(function) for name, function in readers.items()}


FORMATS: Kind[Format] = Kind(
    "format",
    "a format with `document`, `lines` or `tables`",
    _own,
    lambda name, kind: Part(name, kind.title),
    folder="harness.recordings.readers",
    key=lambda name, kind: (kind.fits_others, name),
    guests=parts_of,
    guests_first=True,
)

formats = FORMATS.all
"""The formats by their full names, in the order in which they are tried."""


def format_named(name: str, place: str = "--format") -> Format:
    """The format of that name; InputError, with the nearest names, when there is none."""
    return FORMATS.named(name, place, "no format is named {!r}")


def format_of(document: bytes) -> str:
    """The name of the format of bytes; raises InputError when none recognises them."""
    found = next((kind for kind in _candidates(document) if kind.recognises(document)), None)
    if found is None:
        raise _unrecognised(document)
    return found.name


def _candidates(head: bytes) -> Iterator[Format]:
    """The formats that bytes may have, in the order in which they are tried.

    Rows that look like messages are part of many logs. Where the program is known, and not what it
    writes, reading them alone would read the log by half.
    """
    for kind in formats().values():
        if not (kind.by_lines and kind.fits_others and _unread_program(head)):
            yield kind


_NO_FORMAT = "no format reads it; docs/plug-ins.md shows how to write one, about 60 lines"


class _UnreadProgram(msgspec.Struct, frozen=True):
    """A program whose logs no format reads, how a file begins, and what to read `instead`."""

    program: str
    beginning: str
    instead: str = _NO_FORMAT


_UNREAD = tuple(
    (one, re.compile(rf"\s*(?:{one.beginning})".encode()))
    for one in table(__package__, "unread_programs.tsv", _UnreadProgram).values()
)
"""Each has fewer than five public files with a conversation, or lies in many files."""


def _unread_program(head: bytes) -> _UnreadProgram | None:
    return next((one for one, begins in _UNREAD if begins.match(head)), None)


def _unrecognised(document: bytes) -> InputError:
    unread = _unread_program(document)
    if unread is not None:
        return InputError(f"looks like {unread.program}: {unread.instead}", "line 1")
    try:
        shape = _shape(document)
    except InputError as error:
        return error
    reason = ": ".join(filter(None, ("format not recognised", shape)))
    return InputError(reason, "line 1", more=_NEXT_STEP)


_NEXT_STEP = "`harness list formats` names what is read, docs/plug-ins.md shows how to add a reader"

_KEY = re.compile(r"[A-Za-z_][\w.-]{0,39}")
_KEYS_MAX = 4


def _shape(document: bytes) -> str:
    """What JSON of no known format looks like, by its first keys; "" for text.

    Files of one program look alike, so a folder of them is counted as one kind. A key that is not
    a plain name is left out: it may be a secret or a person's words.
    """
    if not json_documents.is_json(document):
        return ""
    if json_documents.is_lines(document):
        return _named("JSON Lines", next(iter(first_objects(document)), {}))
    value = json_documents.load(document)
    if isinstance(value, list):
        return _named("a JSON list of objects", next(iter(value), None))
    return _named("a JSON object", value)


def _named(what: str, value: Json) -> str:
    keys = [key for key in value if _KEY.fullmatch(key)] if isinstance(value, dict) else []
    more = ", ..." if len(keys) > _KEYS_MAX else ""
    return f"{what} with {', '.join(keys[:_KEYS_MAX])}{more}" if keys else "JSON"


def line_format(head: bytes, format: str = AUTO) -> str:
    """The name of the format of a file that is read line by line; "" for any other file.

    `head` holds the first line at least. Raises InputError for an unknown name, and for a head
    that is empty or binary.
    """
    asked = None if format == AUTO else format_named(format)
    if head.startswith((*json_documents.UTF16, zip_archive.MAGIC)):
        return ""
    _check_text(head)
    kind = asked or next((k for k in _candidates(head) if k.recognises(head)), None)
    return kind.name if kind is not None and kind.by_lines else ""


def read_lines(lines: Iterable[bytes], name: str, format: str) -> Recording:
    """A recording from its lines; raises InputError that names `name` and the line."""
    try:
        return format_named(format).read_lines(lines)
    except InputError as error:
        raise error.within(name) from None


def takes_tables(format: str) -> bool:
    """Whether a database may be of the format of that name; raises InputError for an unknown
    one."""
    return format == AUTO or format_named(format).by_tables


def read_tables(tables: Tables, name: str, format: str = AUTO) -> Recording:
    """The recording that a database holds; `format` is the name of a format, or `auto`.

    Raises InputError that names `name` and the place in it.
    """
    kinds = formats().values() if format == AUTO else [format_named(format)]
    try:
        found = next(filter(None, (kind.read_tables(tables) for kind in kinds)), None)
        if found is None:
            raise _unread_database(tables)
    except InputError as error:
        raise error.within(name) from None
    return found


class _UnreadDatabase(msgspec.Struct, frozen=True):
    """A program whose database no format reads, a table and a column of it, and what to read
    `instead`."""

    program: str
    table: str
    column: str
    instead: str = _NO_FORMAT


_DATABASES = tuple(table(__package__, "unread_databases.tsv", _UnreadDatabase).values())


def _unread_database(tables: Tables) -> InputError:
    known = next((one for one in _DATABASES if has(tables, one.table, one.column)), None)
    if known is not None:
        return InputError(f"looks like {known.program}: {known.instead}")
    return InputError("a SQLite database that no format reads", more=_NEXT_STEP)


def read(document: bytes, name: str = "", format: str = AUTO) -> Recording:
    """The recording that bytes hold; `format` is the name of a format, or `auto`.

    Raises InputError that names `name` and the place in it.
    """
    asked = None if format == AUTO else format_named(format)
    try:
        document = json_documents.as_utf8(document)
        if not document.startswith(zip_archive.MAGIC):
            _check_text(document)
        return asked.read(document) if asked else _recognised(document)
    except InputError as error:
        raise error.within(name) from None
    except RecursionError:
        raise InputError("nested too deeply", name) from None
    finally:
        json_documents.forget()


def _recognised(document: bytes) -> Recording:
    for kind in _candidates(document):
        found = kind.attempt(document)
        if found is not None:
            return found
    raise _unrecognised(document)


def _check_text(data: bytes) -> None:
    if not data or data.isspace():
        raise InputError("the file is empty", "line 1")
    if data.startswith(DATABASE):
        raise InputError("a SQLite database is read from its file, not from bytes", "line 1")
    at = data.find(b"\0", 0, _HEAD_BYTES)
    if at >= 0:
        line = data.count(b"\n", 0, at) + 1
        raise InputError("binary data", f"line {line}", more=f"byte {at} is zero")
