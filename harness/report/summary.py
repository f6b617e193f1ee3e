"""What a report needs of a run, and no more: a plain value that can cross processes.

The history stays on disk; of it only the lines of the events that prove a finding are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from harness.catalogue import incident
from harness.core.history.history import History
from harness.core.values.verdict import Finding, Verdict, VerdictWord
from harness.report.command import Invocation, repeat
from harness.report.events import at, lines

if TYPE_CHECKING:
    from harness.runner import Run


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One run as a report shows it.

    `name` is NAME[/VARIANT][@WIRE][+stream]; `evidence` maps the number of an event to its line;
    `history` is the path of the file, empty when nothing was kept; `repeat` is a shell command;
    `seen` says, for each public incident that the scenario is made after, where and what it was.
    """

    name: str
    scenario: str
    title: str
    target: str
    world: str
    seed: int
    verdict: Verdict
    history: str = ""
    repeat: str = ""
    evidence: dict[int, str] = {}
    seen: tuple[str, ...] = ()

    @property
    def word(self) -> VerdictWord:
        """pass, fail or unknown."""
        return self.verdict.verdict


def summarize(run: Run, asked: Invocation | None) -> RunSummary:
    """The summary of a run; `asked` is how it can be asked for again, if it can."""
    name = run.scenario.run_name
    verdict = run.verdict
    return RunSummary(
        name=name,
        scenario=run.scenario.name,
        title=run.scenario.title,
        target=run.target,
        world=run.world,
        seed=run.seed,
        verdict=verdict,
        history=str(run.folder / "history.jsonl") if run.folder else "",
        repeat=repeat(asked, name, run.seed) if asked else "",
        evidence=evidence(run.history, (*verdict.findings, *verdict.known)),
        seen=tuple(_seen(run.scenario.source)),
    )


def _seen(sources: tuple[str, ...]) -> Iterator[str]:
    for source in sources:
        if row := incident(source):
            yield f"{row.where.partition(' ')[0].rstrip(';,')}: {row.symptom} ({source})"


def evidence(history: History, findings: tuple[Finding, ...]) -> dict[int, str]:
    """The lines of the events that the findings name: when (if the run has times), and what."""
    wanted = {n for finding in findings for n in finding.events}
    if not wanted:
        return {}
    found = lines(history, wanted)
    times = {event.n: event.at_ms for event in history.events}
    if not any(times.values()):
        return found
    return {n: f"{at(times[n]):>10}  {line}" for n, line in found.items()}
