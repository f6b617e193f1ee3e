"""The events of a command, which a report of any medium gets from every verb.

A command starts, comes to results one by one, and finishes, after Ctrl-C too. A report is called
with each event, and gives the lines that the event adds to its medium. No report depends on a verb,
and no verb on a medium.

A table of two things that a command brings together, for the reports that can draw one.

What a list of results cannot show stands in it: which pairs were asked, and which could not be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from harness.core.values.messages import Json
from harness.core.values.verdict import FindingClass, VerdictWord, worst
from harness.recordings.transcripts import Refusal
from harness.verdicts.baseline import BaselineChange
from harness.verdicts.reach import Reach
from harness.verdicts.result import Result

CellWord = Literal["held", "found", "open"]


class MatrixCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a row and a column come to together; a pair without a cell could not be asked.

    `row` and `column` are places, and `cases` were played. `class_` is the worst one of what was
    found, and `result` the name of a result of the command that shows it.
    """

    row: int
    column: int
    word: CellWord
    cases: int
    text: str
    class_: FindingClass | Literal[""] = msgspec.field(default="", name="class")
    result: str = ""


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """The table; `corner` says what its rows are."""

    title: str
    corner: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[MatrixCell, ...]


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
