"""Transcripts on disk: where they may be, and two files that appear or vanish together.

The layout is that of Claude Code: `<config>/projects/<folder of the work>/<session>.jsonl`. A path
may come from outside (a hook names one), so each is resolved and must lie below `projects`; what
cannot be resolved is refused like the rest. The file is written before its watermark, and a file
whose watermark could not be written is taken away again: it would look complete and be read as if
nothing had happened since.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from harness.agent.transcripts.entries import problem
from harness.agent.transcripts.watermark import Watermark
from harness.core.values.brief import Brief
from harness.core.values.messages import digest


def encoded(folder: str | os.PathLike[str]) -> str:
    """The name that a working folder has below `projects`."""
    return re.sub(r"[^a-zA-Z0-9]", "-", os.path.realpath(folder))


def inside(path: str | os.PathLike[str], config: str | os.PathLike[str]) -> Path | None:
    """The real path when it lies below `<config>/projects`, else None; never raises OSError.

    A link is followed; one that leads round in a circle or nowhere is refused.
    """
    base = os.path.join(os.path.realpath(config), "projects", "")
    try:
        real = os.path.realpath(path, strict=os.path.lexists(path))
    except (OSError, RuntimeError, ValueError):
        return None
    return Path(real) if real.startswith(base) else None


def read_session_file(path: str, config: str | os.PathLike[str]) -> bytes | None:
    """The bytes of another program's session file; None when it may not or cannot be read."""
    real = inside(path, config) if path else None
    try:
        return real.read_bytes() if real is not None else None
    except OSError:
        return None


class Archive:
    """The transcripts of one working folder, a file and a watermark for each session."""

    def __init__(self, config: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
        self._config, self._name = Path(config), encoded(folder)

    def read(self, session: str) -> tuple[bytes, Watermark]:
        """The transcript and its watermark; empty ones when there is none to be trusted."""
        file, mark = self.paths(session)
        try:
            data, found = file.read_bytes(), msgspec.json.decode(mark.read_bytes(), type=Watermark)
        except (OSError, ValueError):
            return b"", Watermark()
        fits = not problem(data) and found.file == digest(data.decode())
        return (data, found) if fits else (b"", Watermark())

    def write(self, session: str, data: bytes, mark: Watermark) -> None:
        """Write both files, or neither. Raises OSError when they cannot be written."""
        file, beside = self.paths(session)
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            _replace(file, data)
            _replace(beside, msgspec.json.encode(mark))
        except OSError:
            self.forget(session)
            raise

    def forget(self, session: str) -> None:
        """Take away what is there."""
        for path in reversed(self.paths(session)):
            path.unlink(missing_ok=True)

    def paths(self, session: str) -> tuple[Path, Path]:
        """The transcript and its watermark. Raises PermissionError for a name that leads out."""
        place = self._config / "projects" / self._name
        found = [
            inside(place / f"{session}{end}", self._config) for end in (".jsonl", ".meta.json")
        ]
        if found[0] is None or found[1] is None:
            raise PermissionError(f"the session {session!r} has no place below {place}")
        return found[0], found[1]


def archive_of(brief: Brief) -> Archive:
    """The archive of an agent: in `claude` below its session folder."""
    folder = Path(brief.session_dir)
    return Archive(folder / "claude", folder)


def _replace(path: Path, data: bytes) -> None:
    """Write a file that is there whole or as it was before."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
