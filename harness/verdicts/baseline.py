"""A baseline: the findings that a project accepts for now, as a table for review in a diff.

A row is a run, a code and a cause, with a note by the user; rows are sorted. The cause is what the
key of a finding holds beside its run and its code. It has no line or event numbers, so an unrelated
change of the agent does not change it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.verdict import Finding, Verdict
from harness.core.values.visible_text import visible_line
from harness.files.regular_file import whole
from harness.redaction.encoder import json_line, shown
from harness.verdicts.result import Result, finding_key

COLUMNS = "run\tcode\tcause\tnote"
_PLAIN = re.compile(r"[\w./@:*+-]+")


class Accepted(NamedTuple):
    """An accepted finding: the run, the code, and its cause."""

    run: str
    code: str
    cause: str


def accepted(run: Result, finding: Finding) -> Accepted:
    """Return the row of a finding: its key, with the cause as `name=value` words."""
    key = finding_key(run, finding)
    values = {
        "session": key.place.session,
        "seam": key.place.seam,
        **msgspec.structs.asdict(key.cause),
    }
    words = (f"{name}={_value(value)}" for name, value in values.items() if value)
    return Accepted(*map(_field, (run.name, finding.code, " ".join(words))))


def accepted_by_1(run: Result, finding: Finding) -> Accepted:
    """Return the row of a finding in a file of version 1, which told fewer findings apart.

    The cause of a crash is the file and the error. The cause of a finding that follows from another
    is the other's code.
    """
    place = finding.place
    cause = f"{place.file}: {place.error}" if place else finding.follows
    return Accepted(*map(_field, (run.name, finding.code, cause)))


RowOf = Callable[[Result, Finding], Accepted]
VERSIONS: dict[str, RowOf] = {
    f"# harness baseline, version {number}": row
    for number, row in ((1, accepted_by_1), (2, accepted))
}
"""How the rows of a file are made, by its first line. A file keeps its version."""

HEAD = [*VERSIONS][-1]


def _value(text: str) -> str:
    """Return a value as a word; any other text is quoted, so that no two causes are one row."""
    return text if _PLAIN.fullmatch(text) else json_line(text)


def _field(text: str) -> str:
    """Return a text as a field between two tabs."""
    return visible_line(shown(text))


class BaselineFile(NamedTuple):
    """The rows of a file with their notes, and its first line."""

    rows: Mapping[Accepted, str]
    head: str = HEAD


def read(path: Path) -> BaselineFile:
    """Return the rows of a file. Raises InputError for a damaged row."""
    try:
        head, *lines = whole(path).decode().split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", str(path)) from None
    if head not in VERSIONS:
        raise InputError(f"not a baseline of this version: its first line is not {HEAD!r}",
                         f"{path}:1")  # fmt: skip
    if lines[:1] != [COLUMNS]:
        raise InputError(f"the columns are not {COLUMNS.split()}", f"{path}:2")
    rows: dict[Accepted, str] = {}
    for number, line in enumerate(lines[1:], 3):
        if not line:
            continue
        fields = line.split("\t")
        if not 2 <= len(fields) <= 4 or not fields[0] or not fields[1]:
            raise InputError("a row is run, code, cause and a note, with tabs between",
                             f"{path}:{number}")  # fmt: skip
        run, code, cause, note = (*fields, "", "")[:4]  # editors strip trailing tabs
        rows[Accepted(run, code, cause)] = note
    return BaselineFile(rows, head)


def text(rows: Mapping[Accepted, str], head: str = HEAD) -> str:
    """Return the file of these rows, sorted."""
    lines = ("\t".join((*row, rows[row])).removesuffix("\t") for row in sorted(rows))
    return "\n".join((head, COLUMNS, *lines, ""))


class BaselineChange(msgspec.Struct, frozen=True):
    """How the results of a command differ from its baseline.

    `accepted` counts the rows with a finding. `new` fail a run and are not in the file. `gone` are
    rows of played runs without a finding. `written`: the file was written.
    """

    file: str
    accepted: int
    new: tuple[Accepted, ...]
    gone: tuple[Accepted, ...]
    written: bool


class Comparison:
    """Compares the runs of a command with a baseline.

    With `update` each finding that fails a run is accepted, and `rows` is the new baseline.
    """

    def __init__(self, file: BaselineFile, update: bool = False) -> None:
        self._old, self._row, self._update = file.rows, VERSIONS[file.head], update
        self._found: dict[Accepted, None] = {}
        self._failing: dict[Accepted, None] = {}
        self._played: set[str] = set()

    def take(self, run: Result) -> Result:
        """Return the run with its accepted findings set apart as known."""
        verdict = run.verdict
        if verdict.verdict == "not_applicable":
            return run
        if verdict.verdict != "unknown":
            self._played.add(_field(run.name))
        rows = [self._row(run, finding) for finding in verdict.findings]
        self._found.update(dict.fromkeys(rows))
        pairs = list(zip(verdict.findings, rows, strict=True))
        self._failing.update({row: None for f, row in pairs if f.fails(verdict.fail_on)})
        apart = [f for f, row in pairs if self._update or row in self._old]
        left = tuple(f for f, row in pairs if not (self._update or row in self._old))
        return msgspec.structs.replace(run, verdict=_without(verdict, left, apart))

    @property
    def new(self) -> list[Accepted]:
        """The findings that fail a run and are not in the baseline."""
        return [row for row in self._failing if row not in self._old]

    @property
    def gone(self) -> list[Accepted]:
        """The rows of played runs without a finding; rows of other runs may still apply."""
        return sorted(r for r in self._old if r.run in self._played and r not in self._found)

    @property
    def standing(self) -> int:
        """The number of rows with a finding."""
        return sum(row in self._old for row in self._found)

    def rows(self) -> dict[Accepted, str]:
        """The new baseline: found rows, new rows, and rows of runs not played; notes stay."""
        gone = set(self.gone)
        old = {row: note for row, note in self._old.items() if row not in gone}
        return old | dict.fromkeys(self.new, "")


def _without(verdict: Verdict, left: tuple[Finding, ...], apart: Iterable[Finding]) -> Verdict:
    """Return the verdict with these findings set apart as known."""
    fails = any(finding.fails(verdict.fail_on) for finding in left)
    word = "fail" if fails else "unknown" if verdict.doubts else "pass"
    changed = (
        verdict if verdict.verdict != "fail" else msgspec.structs.replace(verdict, verdict=word)
    )
    return msgspec.structs.replace(changed, findings=left, known=(*verdict.known, *apart))
