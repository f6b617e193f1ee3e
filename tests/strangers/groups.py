"""Runs of frameworks by verdict, and failing runs by the codes of their causes."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

Run: TypeAlias = dict[str, Any]
"""A line of `harness run --json`."""

_WORST = ("defect", "weakness", "advice", None)


def runs_of(lines: Iterable[Run]) -> list[Run]:
    """The lines that are runs."""
    return [line for line in lines if "name" in line]


def is_unplayed(lines: Sequence[Run]) -> bool:
    """Whether no run was applicable, as when a package of the harness is missing."""
    return all(run["verdict"] == "not_applicable" for run in runs_of(lines))


def causes(run: Run) -> tuple[str, ...]:
    """The codes of the findings that follow from no other and are no advice, with their class."""
    found = {
        f"{f['code']} ({f.get('class') or 'no class'})"
        for f in run["findings"]
        if not f.get("follows") and f.get("class") != "advice"
    }
    return tuple(sorted(found))


def worst_class(run: Run) -> str:
    """The worst class of what fails a run."""
    classes = [f.get("class") or None for f in run["findings"] if not f.get("follows")]
    return min(classes, key=_WORST.index, default=None) or "no class"


def row(name: str, lines: Sequence[Run]) -> str:
    """A framework's row of the table: its runs by verdict and class, and what they lack."""
    runs = runs_of(lines)
    words = Counter(run["verdict"] for run in runs)
    classes = Counter(worst_class(run) for run in runs if run["verdict"] == "fail")
    lacks = [
        f"{item['missing']} {item['runs']}"
        for line in lines
        if "name" not in line
        for item in line["not_applicable"]
    ]
    cells = [
        name,
        len(runs),
        words["not_applicable"],
        words["pass"],
        words["fail"],
        classes["defect"],
        classes["weakness"],
        classes["no class"],
        words["unknown"],
        ", ".join(lacks) or "none",
    ]
    return f"| {' | '.join(map(str, cells))} |"


HEAD = """\
| framework | runs | n.a. | pass | fail | defect | weakness | no class | unknown | lacks |
|---|---|---|---|---|---|---|---|---|---|"""


def groups(lines: Sequence[Run]) -> list[tuple[tuple[str, ...], list[Run]]]:
    """The failing runs by their causes, the largest group first."""
    found: dict[tuple[str, ...], list[Run]] = defaultdict(list)
    for run in runs_of(lines):
        if run["verdict"] == "fail":
            found[causes(run)].append(run)
    return sorted(found.items(), key=lambda group: (-len(group[1]), group[0]))


def draw(runs: Sequence[Run], count: int, seed: int) -> list[Run]:
    """So many failing runs, drawn with the seed; all if there are no more."""
    failing = [run for run in runs_of(runs) if run["verdict"] == "fail"]
    return random.Random(seed).sample(failing, min(count, len(failing)))
