"""A diff as one HTML file, in the style of the page of runs: tables and text, no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from harness.core.values.verdict import Finding
from harness.core.values.visible_text import visible
from harness.redaction import encoder
from harness.report.diff_screen import counts, run_lines, screen
from harness.report.html.html_page import asset, digest_of, shown, template
from harness.results.run_diff import Diff, RunDiff

WIDTH = 140
RUNS_MAX = 2_000
"""The most differing runs that are shown; the screen above them counts all."""


class DiffRow(msgspec.Struct, frozen=True):
    """A run that differs: its verdicts, the codes of findings with their class, and its text."""

    name: str
    a: str
    b: str
    new: tuple[tuple[str, str], ...]
    gone: tuple[tuple[str, str], ...]
    what: str
    text: str


def diff_page(diff: Diff) -> Iterator[bytes]:
    """Yield the page, piece by piece."""
    style = asset("page.css")
    pieces = template("diff_page.html.jinja").generate(
        title=shown(f"{diff.a} → {diff.b}: {counts(diff)}"), style=style,
        style_hash=digest_of(style), screen=_text(screen(diff, WIDTH)),
        runs=list(map(_row, diff.unlike[:RUNS_MAX])),
        left=[(shown(left.name), shown(left.reason)) for left in diff.left],
    )  # fmt: skip
    return map(encoder.encoded, pieces)


def _row(run: RunDiff) -> DiffRow:
    return DiffRow(
        name=shown(run.name),
        a=f"{run.a.verdict}, {run.a.outcome}",
        b=f"{run.b.verdict}, {run.b.outcome}",
        new=_codes(run.new),
        gone=_codes(run.gone),
        what=shown(run.change.what) if run.change else "",
        text=_text(run_lines(run, WIDTH)),
    )


def _codes(found: Iterable[Finding]) -> tuple[tuple[str, str], ...]:
    """Return the causes; findings that follow from another are only in the text of the run."""
    return tuple((shown(f.code), f.class_ or "of-run") for f in found if not f.follows)


def _text(lines: Iterable[str]) -> str:
    return visible(encoder.shown("\n".join(lines)))
