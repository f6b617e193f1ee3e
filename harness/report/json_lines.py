"""The JSON Lines of the command line; the contract sets the keys."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.values.messages import Json
from harness.core.values.verdict import Finding, NotApplicable, Verdict
from harness.report.baseline import Comparison
from harness.report.run_summary import Lack, RunSummary

VERSION = 1
"""The version of the keys of a run and of a transcript: docs/outputs.md says what it promises."""


def line(value: Json) -> str:
    """A value as one line of JSON, keys in the order in which they stand."""
    return msgspec.json.encode(value).decode()


def run_line(run: RunSummary) -> str:
    """A run: its name, how it was played, its verdict with findings, and what is on disk."""
    verdict = run.verdict
    return line(
        {
            "version": VERSION,
            "name": run.name,
            "scenario": run.scenario,
            "file": run.file,
            "wire": run.wire,
            "stream": run.stream,
            "target": run.target,
            "world": run.world,
            "seed": run.seed,
            "verdict": verdict.verdict,
            "outcome": verdict.outcome,
            "fail_on": verdict.fail_on,
            "findings": [finding(f, run.repeat) for f in verdict.findings],
            "known": [finding(f, run.repeat) for f in verdict.known],
            "doubts": verdict.doubts,
            "not_applicable": not_applicable(verdict.not_applicable),
            "history": run.history,
            "kept": run.kept,
        }
    )


def last_line(missing: Sequence[Lack], not_played: int) -> str:
    """The runs that are not applicable (missing, reason, runs of each lack), and how many runs
    were not played, if any were not."""
    said: dict[str, Json] = {"not_applicable": [msgspec.to_builtins(lack) for lack in missing]}
    said["version"] = VERSION
    return line(said | ({"not_played": not_played} if not_played else {}))


def baseline_line(comparison: Comparison) -> str:
    """A baseline beside the runs: how many rows stand, which findings are new and which gone."""
    new, gone = ([row._asdict() for row in rows] for rows in (comparison.new, comparison.gone))
    return line({"version": VERSION, "accepted": comparison.standing, "new": new, "gone": gone})


def judged_line(
    file: str,
    transcript: str,
    kind: str,
    verdict: Verdict,
    counts: Json,
    repeat: str,
    asked: Sequence[str] = (),
    asked_of: int = 0,
) -> str:
    """A transcript: file, transcript, format, verdict, what could be asked, findings, counts."""
    return line(
        {
            "version": VERSION,
            "file": file,
            "transcript": transcript,
            "format": kind,
            "verdict": verdict.verdict,
            "fail_on": verdict.fail_on,
            "asked": asked,
            "asked_of": asked_of,
            "findings": [finding(f, repeat) for f in verdict.findings],
            "known": [finding(f, repeat) for f in verdict.known],
            "doubts": verdict.doubts,
            "counts": counts,
            "not_applicable": not_applicable(verdict.not_applicable),
        }
    )


def finding(found: Finding, repeat: str) -> dict[str, Json]:
    """A finding: code, class, check, message, its events by `n`, the code that it
    follows from, the command that repeats it."""
    return {
        "code": found.code,
        "class": found.class_,
        "check": found.check,
        "message": found.message,
        "events": found.events,
        "follows": found.follows,
        "repeat": repeat,
    }


def not_applicable(checks: tuple[NotApplicable, ...]) -> list[dict[str, str]]:
    """Checks that could not be asked, and why."""
    return [{"check": n.check, "reason": n.reason} for n in checks]
