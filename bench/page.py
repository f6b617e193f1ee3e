"""The page `docs/bench.md` from what was measured in one run."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import jinja2
import msgspec

from bench.curves import SIZES, Curve
from bench.figure import Figure
from bench.peers import CALLS, MODES, Table
from harness.core.values import table_file

TEMPLATE = Path(__file__).with_name("page.md.jinja")
REASONS = Path(__file__).with_name("reasons.tsv")


class Reason(msgspec.Struct, frozen=True):
    """Why a figure is known to be over its bound; the page tells it only where it is over."""

    figure: str
    reason: str


def page(table: Table, curves: Sequence[Curve], figures: Sequence[Figure]) -> str:
    """The text of the page."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    template = environment.from_string(TEMPLATE.read_text())
    return template.render(
        machine=_machine(),
        rounds=len(table.rows[0].seconds),
        calls=CALLS,
        rows=[*_rows(table)],
        skipped=table.skipped,
        sizes=[f"{size:,}" for size in SIZES],
        curves=[*map(_curve, curves)],
        figures=figures,
        reasons=_reasons(),
    )


def _reasons() -> dict[str, str]:
    """The known reasons by figure."""
    known = table_file.parse(REASONS.read_text("utf-8"), Reason, REASONS.name)
    return {name: row.reason for name, row in known.items()}


def _machine() -> str:
    return (
        f"This one: {os.cpu_count()} cores, Python {platform.python_version()},"
        f" anthropic {anthropic.__version__} on httpx2 {httpx2.__version__}"
    )


def _rows(table: Table) -> Iterator[dict[str, Any]]:
    for backend in dict.fromkeys(row.backend for row in table.rows):
        shown: dict[str, Any] = dict.fromkeys(
            [key for mode in MODES for key in (mode, f"{mode}_ms")], ""
        )
        for row in table.rows:
            if row.backend is backend:
                shown[row.mode] = str(table.ratio(row))
                shown[f"{row.mode}_ms"] = f"{statistics.median(row.seconds) * 1e3:.2f}"
        name = f"**{backend.name}**" if backend.is_ours else backend.name
        yield {"name": name, "place": backend.place, **shown}


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "name": curve.name,
        "seconds": [f"{point.seconds:.3f} s" for point in curve.points],
        "exponent": f"{curve.exponent:.2f}",
        "memory": f"{curve.points[-1].peak_mb:.0f} MB",
    }
