"""A diff as JSON Lines: one object for each run of both sides, then one for all runs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.values.messages import Json
from harness.core.values.verdict import Finding
from harness.redaction.encoder import json_line
from harness.report.media.json_lines import VERSION, finding_fields
from harness.verdicts.run_diff import Diff, OneSide, RunDiff, total


def json_lines(diff: Diff) -> Iterator[str]:
    """Yield all lines."""
    yield from map(run_line, diff.runs)
    yield last_line(diff)


def run_line(run: RunDiff) -> str:
    """Return the object of a run of both sides."""
    return json_line(
        {
            "version": VERSION,
            "name": run.name,
            "scenario": run.b.result.scenario,
            "differs": run.differs,
            "new": [_finding(found, found in run.failing) for found in run.new],
            "gone": [_finding(found, False) for found in run.gone],
            "first_call": _first_call(run),
            "requests": list(run.beside),
            "a": _side(run.a),
            "b": _side(run.b),
        }
    )


def last_line(diff: Diff) -> str:
    """Return the object of all runs."""
    return json_line(
        {
            "version": VERSION,
            "a": diff.a,
            "b": diff.b,
            "compared": len(diff.runs),
            "differ": len(diff.unlike),
            "new": sum(len(run.failing) for run in diff.runs),
            "figures_a": msgspec.to_builtins(total(run.a.figures for run in diff.runs)),
            "figures_b": msgspec.to_builtins(total(run.b.figures for run in diff.runs)),
            "not_compared": [msgspec.to_builtins(left) for left in diff.left],
        }
    )


def _finding(found: Finding, fails: bool) -> dict[str, Json]:
    fields = {**finding_fields(found), "fails": fails}
    return {name: value for name, value in fields.items() if name != "check"}


def _first_call(run: RunDiff) -> dict[str, Json]:
    """Return the first call that differs; empty if no call differs."""
    if run.change is None:
        return {}
    return {
        "what": run.change.what,
        "by_world": run.change.by_world,
        "a": _call(run.a),
        "b": _call(run.b),
    }


def _call(side: OneSide) -> dict[str, Json]:
    return {"call": side.call, "event": side.event, "line": side.line}


def _side(side: OneSide) -> dict[str, Json]:
    return {
        "target": side.result.target,
        "verdict": side.verdict.verdict,
        "outcome": side.verdict.outcome,
        "history": side.result.history,
        "figures": msgspec.to_builtins(side.figures),
    }
