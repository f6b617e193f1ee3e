"""The results of `judge --resume DIR` on disk, so that an interrupted run continues.

A torn last line is ignored and its file judged again. Path, size and modification time identify a
file. A change of program version, checks or plug-ins invalidates the result.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from harness.core.scenario.scenario import Expect
from harness.core.values.errors import InputError
from harness.core.values.profile import NO_PROFILE, Profile
from harness.core.values.verdict import FindingClass
from harness.files.appended_lines import AppendedLines
from harness.files.regular_file import changed_ns, opened, whole
from harness.parts.loading import Plugin, loaded
from harness.verdicts.command_events import FileRead

NAME = "judged.jsonl"


class Stamp(msgspec.Struct, frozen=True):
    """The identity of a file, and the settings it was judged with."""

    path: str
    size_bytes: int
    changed_ns: int
    asked: str


class _Line(msgspec.Struct, frozen=True):
    stamp: Stamp
    file: FileRead


class _Stamped(msgspec.Struct, frozen=True):
    """A journal line of which only the stamp is decoded."""

    stamp: Stamp


def asked_for(
    kind: str,
    check: str | None,
    profile: Profile = NO_PROFILE,
    fail_on: FindingClass | None = None,
    expect: Expect | None = None,
) -> str:
    """Return a digest of the settings that a file is judged with.

    Other plug-ins or another profile give another digest."""
    from importlib.metadata import version

    words = [kind, check or "all", version("loop-harness")]
    for setting in (profile if profile != NO_PROFILE else None, expect):
        if setting is not None:
            words.append(hashlib.sha256(msgspec.json.encode(setting)).hexdigest()[:16])
    words += [f"fail-on={fail_on}"] if fail_on else []
    return " ".join([*words, *map(_plugin_word, loaded())])


def _plugin_word(plugin: Plugin) -> str:
    file = getattr(plugin.module, "__file__", None)
    content = whole(Path(file)) if file else b""
    return f"{plugin.module.__name__}:{hashlib.sha256(content).hexdigest()[:16]}"


def stamp(path: str, shown: str, asked: str) -> Stamp | None:
    """Return the stamp of a file as it is now; None for a file that is gone."""
    try:
        return Stamp(shown, os.stat(path).st_size, changed_ns(path), asked)
    except OSError:
        return None


class JudgeJournal:
    """The journal in a folder, open for writing; makes the folder. May raise InputError."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._places: dict[Stamp, int] = {}
        try:
            self._lines = AppendedLines(self.path, self._read() if self.path.exists() else 0)
        except OSError as error:
            raise InputError(f"cannot be used: {error.strerror}", f"--resume {folder}") from None

    def _read(self) -> int:
        """Find the places of the lines; return the size without a torn one."""
        place = 0
        with opened(self.path) as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                with suppress(ValueError, RecursionError):
                    self._places[msgspec.json.decode(line, type=_Stamped).stamp] = place
                place += len(line)
        return place

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()

    def place(self, known: Stamp | None) -> int | None:
        """Return the position of a file in the journal; None for a file not yet judged."""
        return self._places.get(known) if known is not None else None

    def add(self, known: Stamp, file: FileRead) -> None:
        """Add the result of a file."""
        self._lines.write(_Line(known, file))


def recall(path: str, place: int) -> FileRead | None:
    """Return the result in the line that begins at `place`; None if the line is damaged."""
    with opened(Path(path)) as file, suppress(ValueError):
        file.seek(place)
        return msgspec.json.decode(file.readline(), type=_Line).file
    return None
