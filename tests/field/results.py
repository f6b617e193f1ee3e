"""What was seen of a target: a head and a line for each run that did not pass, kept as JSON Lines.

The files stand in `docs/field/results`, so that targets can be played one at a time and the report
is made of all of them. They hold no times and no paths: the same behaviour makes the same file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from tests.field.environments import ROOT, targets

RESULTS = ROOT / "docs" / "field" / "results"

Line: TypeAlias = dict[str, Any]
"""A line of `harness run --json`."""

CLASSES = ("defect", "weakness", "")
"""From the worst on; "" is book-keeping, which has no class."""


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a target was played. `drawn` is the number of scenarios of a sample, 0 for all of them;
    `chosen` says how else the runs were chosen.

    `catalogue` counts the runs that were asked of the target, and `applicable` those that it
    has all for. Of a target without its sessions they count all runs on its API, by its profile.
    `scenarios` and `runs` are those that were played; `lacks` counts the runs that are not
    applicable, by what they need. `left_out` are drawn runs that were not played to their end,
    each with the reason. `network` says whether the runs had loopback alone.
    """

    target: str
    package: str
    version: str
    language: str
    plays: tuple[str, ...]
    seed: int
    network: str
    runs: int
    scenarios: int
    passed: int
    failed: int
    unknown: int
    catalogue: int = 0
    applicable: int = 0
    drawn: int = 0
    chosen: str = ""
    lacks: dict[str, int] = {}
    left_out: dict[str, str] = {}

    @property
    def share(self) -> float:
        """The part of the catalogue that was asked of the target in truth: it has what the run
        needs, and the moment of the run came."""
        came = (self.passed + self.failed) / self.runs if self.runs else 0.0
        return came * self.applicable / self.catalogue if self.catalogue else 0.0


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A run that did not pass: its causes with their classes, and the codes of the later times."""

    run: str
    verdict: str
    causes: dict[str, str]
    again: tuple[tuple[str, ...], ...] = ()

    @property
    def changed(self) -> bool:
        """Whether a later time showed something else."""
        return any(codes != tuple(self.causes) for codes in self.again)


class Results(msgspec.Struct, frozen=True):
    """A target's head and its runs that did not pass."""

    head: Head
    seen: tuple[Seen, ...]


def runs_of(lines: Sequence[Line]) -> list[Line]:
    """The lines that are runs."""
    return [line for line in lines if "name" in line]


def causes(run: Line) -> dict[str, str]:
    """The codes that fail a run and follow from no other, in order, each with its class."""
    found = {
        f["code"]: f.get("class") or ""
        for f in run["findings"]
        if not f.get("follows") and f.get("class") != "advice"
    }
    return dict(sorted(found.items()))


def results(
    name: str, origin: tuple[str, str], network: str, seed: int, times: Sequence[Sequence[Line]]
) -> Results:
    """The results of the times that a target was played; the first played all, the others some."""
    target = targets()[name]
    first, *later = ({run["name"]: run for run in runs_of(lines)} for lines in times)
    played = {n: run for n, run in first.items() if run["verdict"] != "not_applicable"}
    lacks = Counter[str]()
    for line in times[0]:
        if "name" not in line:
            lacks.update({lack["missing"]: lack["runs"] for lack in line.get("not_applicable", ())})
    words = Counter(run["verdict"] for run in played.values())
    head = Head(
        target=name, package=origin[0], version=origin[1], language=target.language,
        plays=target.plays, seed=seed, network=network, runs=len(played),
        scenarios=len({run["scenario"] for run in played.values()}), passed=words["pass"],
        failed=words["fail"], unknown=words["unknown"], catalogue=len(first),
        applicable=len(played), lacks=dict(sorted(lacks.items())),
    )  # fmt: skip
    seen = [
        Seen(n, run["verdict"], causes(run),
             tuple(tuple(causes(time[n])) for time in later if n in time))
        for n, run in sorted(played.items()) if run["verdict"] != "pass"
    ]  # fmt: skip
    return Results(head, tuple(seen))


def write(found: Results, folder: Path = RESULTS) -> None:
    """Keep the results of a target."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = map(msgspec.json.encode, (found.head, *found.seen))
    (folder / f"{found.head.target}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


def read(folder: Path = RESULTS) -> list[Results]:
    """The kept results, in the order of the data file."""
    files = [folder / f"{name}.jsonl" for name in targets()]
    return [_read(file) for file in files if file.exists()]


def _read(file: Path) -> Results:
    head, *rows = file.read_bytes().splitlines()
    seen = tuple(msgspec.json.decode(row, type=Seen) for row in rows)
    return Results(msgspec.json.decode(head, type=Head), seen)
