"""The folder of a sweep: its cases before the first is played, results, histories, findings.

The list of cases is whole before any run, so what was not played is seen. A resume reads the list
and goes on behind the last whole result.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from harness.core.history.event_log import BadLine
from harness.core.history.history import History, decode
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.core.values.profile import Profile
from harness.core.values.verdict import Finding, VerdictWord
from harness.files.appended_lines import AppendedLines, lines_in, without_torn_line
from harness.files.regular_file import stored, whole, write_atomically
from harness.redaction.encoder import json_bytes
from harness.sweep.case_runs import CaseResult, PlayedCase
from harness.sweep.cases import Case, NotReached
from harness.verdicts.reach import NOTHING, Reach

CASES, PAIRS, RESULTS, HISTORIES = "cases.jsonl", "pairs.jsonl", "results.jsonl", "histories"
REACH = "reach.json"
VERSION = 1


class SweepPlan(msgspec.Struct, frozen=True, kw_only=True, tag="sweep"):
    """The settings of a sweep. `faults` are patterns of their kinds; `store` is the one that the
    command names, and `versions` are those of Python, the harness and the clients. `k` is the
    number of faults in a case at most; `all_pairs`: no pair is left out. `orders`: the cases are
    orders of events, with at most `k` changes."""

    target: str
    faults: tuple[str, ...] = ("*",)
    k: int = 1
    all_pairs: bool = False
    orders: bool | UnsetType = UNSET
    v: int = VERSION
    profile: Profile | UnsetType = UNSET
    profile_name: str | UnsetType = UNSET
    store: str | UnsetType = UNSET
    plugins: tuple[str, ...] | UnsetType = UNSET
    versions: dict[str, str] = {}


class SweptRun(msgspec.Struct, frozen=True, kw_only=True, tag="run", omit_defaults=True):
    """A scenario of a sweep, and what its run without a further fault comes to.

    `calls` counts those by seam, `points` those of choice, and `courses` says by session what the
    agent asks. `why` is the reason for a run that cannot be swept.
    """

    name: str
    scenario: Scenario
    verdict: VerdictWord
    findings: tuple[Finding, ...] = ()
    calls: dict[str, int] = {}
    points: int = 0
    courses: dict[str, str] = {}
    why: str = ""


class Pruned(msgspec.Struct, frozen=True, tag="pruned"):
    """Pairs of the scenario `run` that are not played, and why."""

    run: str
    why: str
    pairs: int


Line: TypeAlias = SweepPlan | SweptRun | Case | NotReached | Pruned
_lines: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_results: msgspec.json.Decoder[CaseResult] = msgspec.json.Decoder(CaseResult)


class Scope(msgspec.Struct, frozen=True):
    """The list of a sweep; `digest` is that of all that decides, which no place on a disk does."""

    plan: SweepPlan
    runs: tuple[SweptRun, ...]
    cases: tuple[Case, ...]
    not_reached: tuple[NotReached, ...]
    digest: str
    pruned: tuple[Pruned, ...] = ()
    has_pairs: bool = False

    def run(self, name: str) -> SweptRun:
        """The run of a name."""
        return next(run for run in self.runs if run.name == name)

    def cases_by_run(self) -> dict[str, list[Case]]:
        """The cases of each run, in the order of both; a run without a case has an empty list."""
        found: dict[str, list[Case]] = {run.name: [] for run in self.runs}
        for case in self.cases:
            found[case.run].append(case)
        return found


def write_scope(folder: Path, plan: SweepPlan, lines: Iterable[Line]) -> None:
    """Write the list of a sweep, whole."""
    data = b"".join(json_bytes(line) + b"\n" for line in (plan, *lines))
    write_atomically(folder / CASES, data)
    (folder / RESULTS).touch()


def write_pairs(folder: Path, lines: Iterable[Case | Pruned]) -> None:
    """Write the list of the pairs, whole."""
    data = b"".join(json_bytes(line) + b"\n" for line in lines)
    write_atomically(folder / PAIRS, data)


def read_scope(folder: Path) -> Scope:
    """Read the list of a sweep. Raises InputError for a folder without one."""
    path, beside = folder / CASES, folder / PAIRS
    if not path.exists():
        raise InputError(f"no sweep here: there is no {CASES}", str(folder))
    data, more = whole(path), whole(beside) if beside.exists() else b""
    lines = list(lines_in(data, _lines, path, "sweep"))
    if not lines or not isinstance(lines[0], SweepPlan) or lines[0].v != VERSION:
        raise InputError("no list of this version of a sweep: use another --out", str(path))
    plan, lines = lines[0], [*lines[1:], *lines_in(more, _lines, beside, "sweep")]
    return Scope(
        plan,
        tuple(line for line in lines if isinstance(line, SweptRun)),
        tuple(line for line in lines if isinstance(line, Case)),
        tuple(line for line in lines if isinstance(line, NotReached)),
        _digest((plan, *lines)),
        tuple(line for line in lines if isinstance(line, Pruned)),
        beside.exists(),
    )


def _digest(lines: Iterable[Line]) -> str:
    """One for the same cases in two checkouts, so that two machines can compare certificates."""
    found = blake2b(digest_size=16)
    for line in lines:
        if isinstance(line, SweptRun):
            anywhere = msgspec.structs.replace(line.scenario, folder="", files_from=())
            line = msgspec.structs.replace(line, scenario=anywhere)
        found.update(json_bytes(line) + b"\n")
    return found.hexdigest()


class ResultFile:
    """The results of a sweep, open for writing; a torn last line is cut."""

    def __init__(self, folder: Path) -> None:
        path = folder / RESULTS
        kept = without_torn_line(whole(path)) if path.exists() else b""
        self.results = list(lines_in(kept, _results, path, "sweep"))
        told = folder / REACH
        has_told = kept and told.exists()
        self.reach = stored(told, Reach, "reach of a sweep") if has_told else NOTHING
        self._folder, self._lines = folder, AppendedLines(path, len(kept))

    def write(self, played: PlayedCase) -> None:
        """Append a result, behind its history: a result on disk has one."""
        if played.history:
            path = history_file(self._folder, played.result.number)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, played.history, durable=False)
        self._lines.write(played.result)
        self.results.append(played.result)
        self.reach += played.reach

    def close(self) -> None:
        """Sync the file to disk and close it; write what all cases reached.

        A case's own reach is ten times as long as its result. So a sweep that is killed keeps none
        of it, and the number of runs says of how many cases it tells.
        """
        if self.reach.runs:
            write_atomically(self._folder / REACH, json_bytes(self.reach))
        self._lines.close()


def history_file(folder: Path, number: int) -> Path:
    """The file of a case's history; a folder holds a thousand of them."""
    return folder / HISTORIES / f"{number // 1000:03}" / f"{number:06}.jsonl.gz"


def history_of(folder: Path, number: int) -> History | None:
    """Read the history of a case; None without one. Raises InputError for a damaged file."""
    path = history_file(folder, number)
    if not path.exists():
        return None
    try:
        return decode(whole(path))
    except BadLine as error:
        raise InputError(f"no history of a case: {error}", str(path)) from None
