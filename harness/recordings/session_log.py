"""JSON Lines of other programs, read an entry at a time with bounded memory.

Only a line feed ends a line, because U+2028 may stand inside a text. A last line without one may be
torn. Too long a line, or too many messages, ends the reading. Parent links are untrusted: a missing
parent makes a root, and a circle is cut where it closes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared.json_fields import parse
from harness.recordings.transcripts import Recording

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read."""

MAX_KEPT_BYTES = 256 * 1024 * 1024
"""The most bytes that all lines with messages may have together."""

_MB = 1024 * 1024
_NOTES = 100
_FIRST = 20


class LogEntry(NamedTuple):
    """An object on a line: the number of the line, the object, the size of the line."""

    number: int
    value: dict[str, Any]
    size_bytes: int


class Notes:
    """What was skipped, in words: the first of them, and how many there are.

    What was lost is a doubt too: a call or a result may have stood there.
    """

    def __init__(self) -> None:
        self._first_texts: list[str] = []
        self._more = 0
        self._lost: list[str] = []
        self._unknown = Counter[str]()

    def add(self, number: int, what: str) -> None:
        """Note something about a line."""
        if len(self._first_texts) < _NOTES:
            self._first_texts.append(f"line {number}: {what}")
        else:
            self._more += 1

    def lose(self, number: int, what: str) -> None:
        """Note that a line could not be read."""
        self.add(number, what)
        self._lost.append(f"line {number}: {what}")

    def unknown(self, shape: str) -> None:
        """Note a shape that is not known, and may be a call or a result."""
        self._unknown[shape] += 1

    def doubts(self) -> tuple[str, ...]:
        """Why the transcripts of the log may be read by half."""
        lines = "line" if len(self._lost) == 2 else "lines"
        more = f", and {len(self._lost) - 1} {lines} more" if len(self._lost) > 1 else ""
        lost = (f"{self._lost[0]}{more}",) if self._lost else ()
        return (*lost, *not_understood(self._unknown))

    def on(self, recording: Recording) -> Recording:
        """The recording of the log, with these notes and doubts."""
        return msgspec.structs.replace(recording, notes=self.texts(), doubts=self.doubts())

    def refusal(self, what: str) -> InputError:
        """Why a log is refused as a whole, with its first note."""
        return InputError(what, "line 1", more="".join(self._first_texts[:1]))

    def texts(self) -> tuple[str, ...]:
        """The notes."""
        more = (f"and {self._more} lines more",) if self._more else ()
        return (*self._first_texts, *more)


class SizeBound:
    """The size of the lines whose messages are in memory, which is bounded."""

    def __init__(self) -> None:
        self.size_bytes = 0

    def add(self, entry: LogEntry) -> None:
        """Keep an entry; raises InputError when it is one too many."""
        self.size_bytes += entry.size_bytes
        if self.size_bytes > MAX_KEPT_BYTES:
            what = f"more than {MAX_KEPT_BYTES // _MB} MB of messages; split the file by session"
            raise InputError(what, f"line {entry.number}")


def taken(lines: Iterable[bytes], take: Callable[[LogEntry, Notes, SizeBound], object]) -> Notes:
    """Hand each entry of a log to a session; return the notes about it."""
    notes, kept = Notes(), SizeBound()
    for entry in entries(lines, notes):
        take(entry, notes, kept)
    return notes


def split(data: bytes) -> Iterator[bytes]:
    """The lines of bytes, one at a time."""
    at = 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        yield data[at:end]
        at = end


def known_keys(entry: type) -> Callable[[bytes], Json]:
    """A reader of lines that builds only the keys of `entry`, a `TypedDict`, where it can.

    Logs repeat long texts under keys that no reader asks for. Skipping these saves a fifth of the
    time of reading. A line that strict JSON refuses is read with all its keys.
    """
    decode: Callable[[bytes], Json] = msgspec.json.Decoder(entry).decode

    def read(line: bytes) -> Json:
        try:
            return decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return parse(line)

    return read


def not_understood(shapes: Counter[str]) -> Iterator[str]:
    """The doubts about shapes that are not known, each with how often it stands in the log."""
    return (f"{shape} is not understood ({count} of them)" for shape, count in shapes.items())


def entries(
    lines: Iterable[bytes], notes: Notes, value_of: Callable[[bytes], Json] = parse
) -> Iterator[LogEntry]:
    """The objects on the lines; raises InputError for a line that is too long.

    Such a line need not be handed in whole: more than `MAX_LINE_BYTES` of it will do. `value_of`
    reads a line.
    """
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_BYTES:
            raise InputError(f"longer than {MAX_LINE_BYTES // _MB} MB", f"line {number}")
        if line.isspace():
            continue
        value = value_of(line)
        if isinstance(value, dict):
            yield LogEntry(number, value, len(line))
        elif value is None and not line.endswith(b"\n"):
            notes.add(number, "the last line is torn, skipped")
        else:
            notes.lose(number, "not a JSON object, skipped")


def first_objects(head: bytes) -> Iterator[dict[str, Any]]:
    """The objects on the first lines, by which a format is recognised; torn lines are left out.

    Most formats look at one or two, so a line is parsed when it is asked for. Ten formats ask, so a
    short line is parsed once.
    """
    lines = (line.strip() for line in islice(split(head), _FIRST))
    values = (_value(line) for line in lines if line[:1] == b"{" and line[-1:] == b"}")
    return (value for value in values if isinstance(value, dict))


_SHORT_BYTES = 100_000

_of_short_line = lru_cache(maxsize=_FIRST)(parse)


def _value(line: bytes) -> Json:
    return _of_short_line(line) if len(line) <= _SHORT_BYTES else parse(line)


def path_to(last: str, parents: Mapping[str, str]) -> list[str]:
    """The entries from a root to `last`, both included."""
    path: dict[str, None] = {}
    while last in parents and last not in path:
        path[last] = None
        last = parents[last]
    return list(path)[::-1]


def circular_entries(parents: Mapping[str, str]) -> Iterator[str]:
    """One entry of each circle, in the order of the entries; every link is followed once."""
    walked: set[str] = set()
    for entry in parents:
        here: set[str] = set()
        while entry in parents and entry not in walked:
            walked.add(entry)
            here.add(entry)
            entry = parents[entry]
        if entry in here:
            yield entry


_STATUS = re.compile(r"\A\D{0,40}\b([45]\d\d)\b")
_TYPE = re.compile(r'"type"\s*:\s*"(\w+_error)"')


def logged_error(text: str, status: Json = None, type_: Json = None) -> ApiError:
    """The error that a log marks; its text tells the status and the type that no field does."""
    in_text, named = _STATUS.search(text), _TYPE.search(text)
    known = isinstance(status, int) and not isinstance(status, bool)
    return ApiError(
        status=status if known else int(in_text[1]) if in_text else 0,
        type=type_ if isinstance(type_, str) else named[1] if named else "",
        message=text,
    )
