"""The marks that an author calls in the agent's own code: `harness.always` and its siblings.

Code in production calls them too. So this file imports only what the interpreter has, and outside
of a run a call costs two comparisons. A Python target tells its marks to the run of its process. A
context variable would not reach the agent's own threads. A program writes them to the file that its
environment names, as the SDK of Antithesis does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from harness.core.values.mark_kinds import Mark, MarkKind

    class MarkTaker(Protocol):
        """What takes the marks of a run."""

        def knows(self, kind: MarkKind, name: str, holds: bool) -> bool:
            """Whether the turn has this mark already."""

        def take(self, mark: Mark) -> None:
            """Keep a mark."""


_taker: MarkTaker | None = None

_FILE = os.environ.get("ANTITHESIS_SDK_LOCAL_OUTPUT", "")
"""The file for the marks of this program, if it is one under test; read once, as the SDK does."""


def always(condition: object, name: str, details: Mapping[str, Any] | None = None) -> None:
    """Say that a condition holds each time that the agent comes here; else it is a finding."""
    if _taker is not None or _FILE:
        _tell("always", name, bool(condition), details)


def sometimes(condition: object, name: str, details: Mapping[str, Any] | None = None) -> None:
    """Say that a condition holds in some run: a campaign tells where it never did."""
    if _taker is not None or _FILE:
        _tell("sometimes", name, bool(condition), details)


def reachable(name: str, details: Mapping[str, Any] | None = None) -> None:
    """Say that some run comes here: it counts for `--require-reached mark:NAME`."""
    if _taker is not None or _FILE:
        _tell("reachable", name, True, details)


STEPS = tuple(sorted({*(1 << n for n in range(11)), *(3 << n for n in range(9))}))
"""1, 2, 3, 4, 6, 8, 12 and so on to 1,024: the numbers that have a mark. A run has room for a
thousand marks, so one number must not take it all."""


def highest(value: float, name: str, details: Mapping[str, Any] | None = None) -> None:
    """Say how far the agent came, as a number: `harness fuzz` goes on from runs that raise it.

    It is a `reachable` for each step that the number has come to, such as `depth >= 12`.
    """
    if _taker is not None or _FILE:
        for step in STEPS:
            if not value >= step:
                break
            _tell("reachable", f"{name} >= {step}", True, details)


def unreachable(name: str, details: Mapping[str, Any] | None = None) -> None:
    """Say that no run comes here; one that does is a finding."""
    if _taker is not None or _FILE:
        _tell("unreachable", name, False, details)


@contextmanager
def marking(taker: MarkTaker) -> Iterator[None]:
    """Let the marks of the target in this process go to its run."""
    global _taker
    before, _taker = _taker, taker
    try:
        yield
    finally:
        _taker = before


def _tell(kind: MarkKind, name: str, holds: bool, details: object) -> None:
    """Tell a mark to the run, or write it to the file: the first of each truth."""
    taker = _taker
    if taker is None:
        told = kind, str(name), holds
        if told not in _told():
            _told().add(told)
            _write(_line(_made(kind, name, holds, details, os.getcwd())))
        return
    from harness.targets.process_exits import in_target, start_folder

    if in_target() and not taker.knows(kind, str(name), holds):
        taker.take(_made(kind, name, holds, details, start_folder()))


def _made(kind: MarkKind, name: str, holds: bool, details: object, folder: str) -> Mark:
    """Return the mark of the user's call, which is three frames above."""
    from harness.core.values.mark_kinds import NAME_MOST, TEXT_MOST, Mark, bounded
    from harness.redaction.encoder import beginning

    frame = sys._getframe(3)
    file = frame.f_code.co_filename.removeprefix(f"{folder}{os.sep}")
    place = f"{file}:{frame.f_lineno} in {frame.f_code.co_name}"
    said = bounded(details, partial(beginning, most_chars=TEXT_MOST))
    return Mark(kind, beginning(str(name), NAME_MOST), holds, said, place)


@cache
def _told() -> set[tuple[str, str, bool]]:
    """The marks that this program has written."""
    return set()


def _line(mark: Mark) -> bytes:
    """Return a mark as a line of Antithesis' local output."""
    from harness.redaction.encoder import json_bytes

    file, _, rest = mark.where.rpartition(":")
    line, _, function = rest.partition(" in ")
    is_reach = mark.kind in ("reachable", "unreachable")
    said = {
        "hit": True, "must_hit": mark.kind != "unreachable", "display_type": mark.kind.capitalize(),
        "assert_type": "reachability" if is_reach else mark.kind,
        "message": mark.name, "id": mark.name, "condition": mark.holds, "details": mark.details,
        "location": {"file": file, "function": function, "begin_line": int(line)},
    }  # fmt: skip
    return json_bytes({"antithesis_assert": said}) + b"\n"


def _write(line: bytes) -> None:
    """Append a line at once, so that the lines of several processes do not mix."""
    try:
        file = os.open(_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:  # a mark never ends the code that it stands in
        return
    try:
        os.write(file, line)
    except OSError:
        return
    finally:
        os.close(file)
