"""Sessions of the user's own programs, for `judge`: where they are, how new, and what to call them.

A program names the file of a session by a random id. People know a session by its project, its time
and the first words, so a report says these beside the path that opens it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from harness.core.values.errors import InputError
from harness.core.values.messages import Message, side
from harness.core.values.table_file import pairs
from harness.core.values.visible_text import abridged, visible_line
from harness.files.regular_file import head_of
from harness.recordings.transcripts import Recording, Transcript

_AGO = re.compile(r"(\d{1,4})([mhdw])")
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

_FOLDER = re.compile(rb'"(?:cwd|directory)":\s*"((?:[^"\\]|\\.){1,400})"')
"""How logs of several programs say where the user was; a path of Windows has escaped separators."""

_TIME = re.compile(
    rb'"(?:timestamp|startTime|started_at|created_at|createdAt)":\s*'
    rb'"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)"'
)
"""How logs of several programs say when a session began. The file's own time is that of the last
line, or of the copy: all files of an artifact of CI have the same."""

_WORDS_MAX = 60
_MADE_UP = ("<", "[", "#", "Caveat:")
"""How texts begin that a program puts in the user's place before his own: rules, environment."""


def begin_of(since: str) -> float:
    """The time that `7d`, `24h`, `2026-11-20` or a date with a time names, in seconds.

    Raises InputError for any other text.
    """
    if ago := _AGO.fullmatch(since):
        return time.time() - int(ago[1]) * _SECONDS[ago[2]]
    try:
        return datetime.fromisoformat(since).timestamp()
    except (ValueError, OverflowError, OSError):
        what = "neither a date nor a duration; write 2026-11-20, 7d, 24h or 30m"
        raise InputError(what, f"--since {since}") from None


def shown_time(seconds: float) -> str:
    """A time to the minute, on the user's own clock."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def own_folders() -> dict[Path, str]:
    """The folders below the user's home where known programs keep sessions, with the programs.

    Raises InputError when none is there.
    """
    home = Path.home()
    known = pairs(__package__, "session_folders.tsv")
    found = {home / folder: program for folder, program in known.items()}
    found = {folder: program for folder, program in found.items() if folder.exists()}
    if not found:
        looked = ", ".join(f"~/{folder}" for folder in known)
        raise InputError("no known program keeps sessions here", "--mine", more=f"tried {looked}")
    return found


class NamedSession(NamedTuple):
    """What people know a session by, and the day on which it began, as `2026-11-28`."""

    called: str = ""
    day: str = ""


def named_session(path: str, recording: Recording) -> NamedSession:
    """The session in a file, by name and day; "" for recorded calls and runs."""
    first = next(iter(recording.transcripts), None)
    if first is None or first.exchange:
        return NamedSession()
    head = head_of(Path(path))
    begun_s = _begun_s(head) or os.stat(path).st_mtime
    return _named(first, _project(path, head), begun_s)


def named_transcript(transcript: Transcript, of_file: NamedSession) -> str:
    """What people know a transcript by: its own name in a database, else that of its file."""
    if transcript.begun_s is None:
        return of_file.called
    return _named(transcript, _last_part(transcript.place), transcript.begun_s).called


def _named(transcript: Transcript, project: str, begun_s: float) -> NamedSession:
    said, when = _first_words(transcript.messages), shown_time(begun_s)
    begin = f"{project}, {when}" if project else when
    return NamedSession(
        visible_line(f"{begin}{f': {said}' if said else ''}"), when.partition(" ")[0]
    )


def _begun_s(head: bytes) -> float | None:
    """When a session began, where it says so; a time without a zone is the user's."""
    try:
        said = _TIME.search(head)
        return datetime.fromisoformat(said[1].decode()).timestamp() if said else None
    except (ValueError, OverflowError, OSError):  # 2026-02-31, or a year that no clock has
        return None


def _project(path: str, head: bytes) -> str:
    named = _FOLDER.search(head)
    folder = named[1].decode("utf-8", "replace") if named else os.path.dirname(path)
    return _last_part(folder) or "/"


def _last_part(folder: str) -> str:
    return next((part for part in re.split(r"[/\\]+", folder)[::-1] if part), "")


def _first_words(messages: Iterable[Message]) -> str:
    texts = [m.text.strip() for m in messages if side(m) == "user" and m.text.strip()]
    own = (text for text in texts if not text.startswith(_MADE_UP))
    return abridged(" ".join(next(own, "".join(texts[:1])).split()), _WORDS_MAX)
