"""The events of a command, which a report of any medium gets from every verb.

A command starts, comes to results one by one, and finishes, after Ctrl-C too. A report is called
with each event, and gives the lines that the event adds to its medium. No report depends on a verb,
and no verb on a medium.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from harness.core.values.messages import Json
from harness.core.values.verdict import VerdictWord, worst
from harness.recordings.transcripts import Refusal
from harness.verdicts.baseline import BaselineChange
from harness.verdicts.matrix import Matrix
from harness.verdicts.reach import Reach
from harness.verdicts.result import Result


class CommandStarted(msgspec.Struct, frozen=True, kw_only=True):
    """A command begins.

    `noun` is what it calls a result. `planned` holds the name and the scenario of each planned
    result, where they are known before. `title` heads a document, in place of the targets and
    counts. `notes` are what the verb says of all results, a line each. `folder` is where the user
    started the command, from which results name files; `repository` is what GitHub has checked out.
    """

    verb: str
    noun: str = "run"
    planned: tuple[tuple[str, str], ...] = ()
    title: str = ""
    notes: tuple[str, ...] = ()
    folder: Path = Path()
    repository: Path = Path()


class FileRead(msgspec.Struct, frozen=True, kw_only=True):
    """A recording was read; its `results` were told before it, one a transcript.

    `refusals` are the reasons why it, or parts of it, could not be read. `named`: the user named
    the file itself, not a folder. `called`: the project, time and first words of a session; `day`:
    when it began, as `2026-11-28` on the user's clock.
    """

    path: str
    format: str = ""
    results: tuple[Result, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    named: bool = False
    called: str = ""
    day: str = ""

    @property
    def word(self) -> VerdictWord:
        """Return the worst verdict of its results."""
        words = {result.word for result in self.results}
        return "not_applicable" if words == {"not_applicable"} else worst(*words)


def refusal_line(refusal: Refusal) -> str:
    """Return a refusal on one line, with its place where a whole file was refused."""
    return ": ".join(filter(None, (refusal.place, refusal.what)))


class CommandFinished(msgspec.Struct, frozen=True, kw_only=True):
    """A command ends; `interrupted`: by Ctrl-C or a signal.

    `baseline` is how its results differ from the baseline, without one None. `totals` are what the
    verb counts beside its results, for a machine; `matrices` are what it brought together. `reach`
    is that of runs that stand in no result, as the cases of a sweep do.
    """

    interrupted: bool = False
    baseline: BaselineChange | None = None
    totals: Json = None
    matrices: tuple[Matrix, ...] = ()
    reach: Reach | None = None


Event = CommandStarted | Result | FileRead | CommandFinished
Report = Callable[[Event], Iterable[str]]
