"""The data of each run on the first page: name, verdict, and the checks not applied, with reasons.

A pure function of the run's summary. The page counts, groups and filters by these fields.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import msgspec

from harness import providers
from harness.core.values.messages import Json
from harness.core.values.verdict import Finding, Verdict
from harness.report.media.json_lines import finding_fields, not_applicable
from harness.verdicts.result import Result
from harness.verdicts.tallies import CLASS_WEIGHTS, folded

_NAME = re.compile(r"(?P<rest>.*?)(@(?P<wire>[a-z-]+))?(?P<stream>\+stream)?", re.DOTALL)


class PageRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run.

    `folder` is that of its scenario file. `details` is the position of its history in the page, or
    why it has none.
    """

    name: str
    scenario: str
    verdict: str
    outcome: str = ""
    folder: str = ""
    title: str = ""
    target: str = ""
    world: str = ""
    wire: str = ""
    stream: bool = False
    seed: int = 0
    findings: tuple[dict[str, Json], ...] = ()
    known: tuple[dict[str, Json], ...] = ()
    doubts: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    not_applicable: tuple[tuple[str, str], ...] = ()
    repeat: str = ""
    history: str = ""
    kept: str = ""
    seen: tuple[str, ...] = ()
    traceback: str = ""
    notes: tuple[str, ...] = ()


def page_run(run: Result) -> PageRun:
    """Return a run as the page shows it."""
    verdict, named = run.verdict, _NAME.fullmatch(run.name)
    return PageRun(
        **{name: getattr(run, name) for name in _OF_A_RESULT},
        verdict=verdict.verdict,
        outcome=verdict.outcome,
        folder=folder_of(run),
        wire=named["wire"] or providers.DEFAULT if named else "",
        stream=bool(named and named["stream"]),
        findings=tuple(_finding(finding, verdict) for finding in verdict.findings),
        known=tuple(_finding(finding, verdict) for finding in verdict.known),
        doubts=verdict.doubts,
        passed=verdict.passed,
        not_applicable=tuple((n["check"], n["reason"]) for n in not_applicable(verdict)),
    )


_OF_A_RESULT = (
    "name", "scenario", "title", "target", "world", "seed", "repeat", "history", "kept", "seen",
    "traceback", "notes",
)  # fmt: skip
"""The fields that a run has from its result unchanged."""


def folder_of(run: Result) -> str:
    """Return the folder of the scenario file, without parts that repeat the scenario's name."""
    folder = str(PurePosixPath(run.file).parent) if run.file else ""
    return "" if folder == "." else folder


def _finding(finding: Finding, verdict: Verdict) -> dict[str, Json]:
    cause, fails = " ".join(map(str, folded(finding))), finding.fails(verdict.fail_on)
    events, weight = list(finding.events), CLASS_WEIGHTS[finding.class_]
    fields = finding_fields(finding)
    return {**fields, "events": events, "cause": cause, "fails": fails, "weight": weight}
