"""Each measure of the bench once, at its smallest size: a change of the harness may break one.

The figures themselves are not judged here, because the machine is shared.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bench
from bench import (
    campaigns,
    cassettes,
    commits,
    curves,
    faults,
    memory,
    peers,
    recordings,
    scenarios,
    strategies,
)
from bench.figure import Figure


def _curves() -> Iterator[Figure]:
    for name in curves.WORK:
        yield from curves.figures([curves.Curve(name, [curves._point(name, n) for n in (2, 4)])])


SMALLEST: dict[str, Callable[[], Iterator[Figure]]] = {
    "campaigns": lambda: campaigns.figures(1, examples=3),
    "cassettes": lambda: cassettes.figures(1, turns=5, calls=20),
    "commits": lambda: commits.figures(commits.measured("HEAD", rounds=1)),
    "curves": _curves,
    "faults": lambda: faults.figures(1),
    "memory": lambda: memory.figures(1, warm=10, calls=20),
    "peers": lambda: peers.figures(peers.measured(rounds=1, calls=1)),
    "recordings": lambda: recordings.figures(1),
    "scenarios": lambda: scenarios.figures(1, "@loops/circles"),
    "strategies": lambda: strategies.figures(1),
}


def test_every_module_with_figures_is_measured_here() -> None:
    files = {path.stem for path in Path(bench.__path__[0]).glob("[a-z]*.py")}
    assert files, "no module found: the test looks in the wrong place"
    modules = ((name, importlib.import_module(f"bench.{name}")) for name in files - {"plot"})
    assert {name for name, module in modules if hasattr(module, "figures")} == SMALLEST.keys()


@pytest.mark.real
@pytest.mark.nightly
@pytest.mark.parametrize("name", SMALLEST)
def test_a_measure_runs_at_its_smallest_size(name: str) -> None:
    figures = list(SMALLEST[name]())
    assert figures
    for figure in figures:
        assert math.isfinite(figure.value), figure
