"""Does the work of `why`: finds the run with the finding, draws its futures, and tells the result.

The exit status is 0 with a diagnosis; a run without the finding is an input that cannot be used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from harness.cli import terminal
from harness.cli.shrink_source import (
    PlayRequest,
    checked_target,
    first_that_shows,
    whole_scenarios_of,
)
from harness.core.scenario.scenario import Scenario
from harness.core.transition.arming import ArmedFault
from harness.core.values.errors import HarnessError, InputError
from harness.core.values.verdict import Finding, FindingClass, Verdict
from harness.diagnosis import Redraws, diagnosis
from harness.files.regular_file import write_atomically
from harness.redaction.encoder import encoded, json_line
from harness.report.diagnosis_text import diagnosis_row, diagnosis_text, mermaid
from harness.report.svg_card import diagnosis_card
from harness.runner import Run, run
from harness.shrink.finding_oracle import chosen
from harness.targets import TargetSpec
from harness.verdicts.diagnosis import Diagnosis


class WhyRequest(PlayRequest, frozen=True, kw_only=True):
    """The input and options of the command; `svg` and `mermaid` are files to write."""

    target: str
    code: str = ""
    fail_on: FindingClass | None = None
    store: str = ""
    futures: int
    svg: Path | None = None
    mermaid: Path | None = None


def tell_why(asked: WhyRequest, as_json: bool) -> int:
    """Draw, write and report; return the exit status."""
    named = whole_scenarios_of(asked.source, asked.only, asked.seed, asked.profile, asked.target)
    runs = [scenario.failing_on(asked.fail_on) for scenario in named]
    spec = checked_target(asked.target, asked.code, "--of")

    def look(scenario: Scenario) -> tuple[Scenario, Run, Finding]:
        played = _played(asked, scenario, spec)
        return scenario, played, chosen(played.verdict, asked.code, scenario.run_name)

    with redirect_stdout(sys.stderr):
        said = _drawn(asked, *first_that_shows(runs, asked.code, asked.source, look), spec)
    if asked.svg:
        write_atomically(asked.svg, encoded(diagnosis_card(said)))
    if asked.mermaid:
        write_atomically(asked.mermaid, encoded(mermaid(said)))
    if as_json:
        terminal.out(json_line(diagnosis_row(said)))
    else:
        lines = diagnosis_text(said, terminal.width(), terminal.paint())
        terminal.out("\n".join(lines))
    return 0


def _played(
    asked: WhyRequest, scenario: Scenario, spec: TargetSpec, probes: Sequence[ArmedFault] = ()
) -> Run:
    return run(scenario, spec, world=asked.world, store=asked.store, capture="fd", probes=probes)


def _drawn(
    asked: WhyRequest, scenario: Scenario, played: Run, finding: Finding, spec: TargetSpec
) -> Diagnosis:
    def play(future: Scenario, probes: Sequence[ArmedFault]) -> Verdict:
        try:
            return _played(asked, future, spec, probes).verdict
        except (HarnessError, InputError):  # a future that cannot be played does not show it
            return Verdict("unknown")

    def words() -> str:
        return f"{redraws.played} futures of {finding.code} played"

    with terminal.progress_line(words) as tell:
        redraws = Redraws(
            scenario, played.history, finding, play, futures=asked.futures, on_play=tell
        )
        return diagnosis(
            played.history, finding, redraws, run=scenario.run_name, target=asked.target
        )
