"""The plot of the peers' ratios and of the curves, as an SVG for the documentation.

matplotlib draws it; the file is the same for the same figures, so a change of it is a change of
what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.curves import Curve
from bench.peers import MODES, Table

OURS, PEER, FLOOR = "#1f77b4", "#b0b7c3", "#555555"


def draw(table: Table, curves: Sequence[Curve], path: Path) -> None:
    """Write the picture: a panel for each mode, and one for the curves."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "loop-harness"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    for mode, axis in zip(MODES, axes, strict=False):
        _bars(axis, table, mode)
    _lines(axes[2], curves)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _bars(axis: Any, table: Table, mode: str) -> None:
    rows = [row for row in reversed(table.rows) if row.mode == mode]
    ratios = [table.ratio(row) for row in rows]
    medians = [ratio.median for ratio in ratios]
    below = [ratio.median - ratio.low for ratio in ratios]
    above = [ratio.high - ratio.median for ratio in ratios]
    colours = [OURS if row.backend.is_ours else PEER for row in rows]
    names = [f"{row.backend.name}\n{row.backend.place}" for row in rows]
    axis.barh(names, medians, xerr=(below, above), color=colours, ecolor=FLOOR)
    axis.axvline(1, color=FLOOR, linewidth=0.8)
    axis.set_title(f"{mode} call, bare transport = 1", fontsize=10)
    axis.tick_params(labelsize=7)


def _lines(axis: Any, curves: Sequence[Curve]) -> None:
    for curve in curves:
        sizes = [point.size for point in curve.points]
        label = f"{curve.name}: exponent {curve.exponent:.2f}"
        axis.loglog(sizes, [point.seconds for point in curve.points], marker="o", label=label)
    axis.set_title("processor seconds as the input grows", fontsize=10)
    axis.tick_params(labelsize=7)
    axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.08), frameon=False)
