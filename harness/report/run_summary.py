"""The parts of a run that a report needs, and a shell command that repeats it.

The summary is a plain value that crosses processes. Of the history it keeps only the lines that
prove a finding.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from harness.catalogue import incident
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.profile import NO_CONNECTIONS, Connections
from harness.core.values.verdict import Finding, LackKind, Verdict, VerdictWord
from harness.report.event_lines import at, event_lines

if TYPE_CHECKING:
    from harness.runner import Run


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was asked for, as the user said it.

    `world` is empty when it followed from the target, `store` when the agent uses the brief's,
    `profile` without one that is named, `fail_on` and `faults` without the flag. `plugin_flags`
    are the words by which plug-ins were loaded.
    """

    path: str
    target: str
    world: str = ""
    store: str = ""
    profile: str = ""
    fail_on: str = ""
    faults: str = ""
    plugin_flags: tuple[str, ...] = ()


def run_command(asked: Invocation, name: str, seed: int | None) -> str:
    """The shell command for exactly one run of a scenario file; no `seed` is the file's own.

    >>> run_command(Invocation(path="a b.yaml", target="reference"), "a/x+stream", 7)
    "harness run 'a b.yaml' --only a/x+stream --target reference --seed 7"
    """
    words = ["harness", "run", asked.path, "--only", name, "--target", asked.target]
    words += ["--seed", str(seed)] if seed is not None else []
    words += ["--world", asked.world] if asked.world else []
    words += ["--store", asked.store] if asked.store else []
    words += ["--profile", asked.profile] if asked.profile else []
    words += ["--fail-on", asked.fail_on] if asked.fail_on else []
    words += ["--faults", asked.faults] if asked.faults else []
    words += asked.plugin_flags
    return shlex.join(words)


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One run as a report shows it.

    `name` is NAME[/VARIANT][@WIRE][+stream]; `evidence` maps the number of an event to its line;
    `history` is the path of the file, empty when nothing was kept; `repeat` is a shell command;
    `file` is the scenario's, empty where it is not known.
    `virtual_s` is how long the run took by its own clock, `real_s` by that of the machine.
    `connections` are those of a `Run`.
    `kept` is the session folder that was kept, empty without one.
    `frames` are the user's own frames of a crash, and `traceback` is all of it.
    `seen` says, for each public incident that the run repeats, where and what it was.
    """

    name: str
    scenario: str
    title: str
    target: str
    world: str
    seed: int
    verdict: Verdict
    wire: str = ""
    stream: bool = False
    virtual_s: float = 0.0
    real_s: float = 0.0
    file: str = ""
    history: str = ""
    kept: str = ""
    repeat: str = ""
    evidence: dict[int, str] = {}
    seen: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    traceback: str = ""
    connections: Connections = NO_CONNECTIONS

    @property
    def word(self) -> VerdictWord:
        """pass, fail or unknown."""
        return self.verdict.verdict


def summarize(run: Run, asked: Invocation | None) -> RunSummary:
    """The summary of a run; `asked` is how it can be asked for again, if it can."""
    name = run.scenario.run_name
    verdict, ended = run.verdict, run.history.trace.ended
    return RunSummary(
        name=name,
        scenario=run.scenario.name,
        title=run.scenario.title,
        target=run.target,
        world=run.world,
        seed=run.seed,
        verdict=verdict,
        wire=run.scenario.wire,
        stream=run.scenario.stream,
        virtual_s=run.history.events[-1].at_ms / 1000 if run.history.events else 0.0,
        file=asked.path if asked else "",
        history=str(run.folder / "history.jsonl") if run.folder else "",
        kept=str(run.kept or ""),
        repeat=run_command(asked, name, run.seed) if asked else "",
        evidence=evidence(run.history, (*verdict.findings, *verdict.known)),
        connections=run.connections,
        seen=tuple(_seen(run)),
        frames=ended.frames if ended else (),
        traceback=ended.traceback if ended else "",
    )


def of_history(history: History | None, verdict: Verdict, path: str) -> RunSummary:
    """The summary of a run of which only the file is left; None for one that cannot be read."""
    trace = history.trace if history else Trace()
    first = trace.starts[0] if trace.starts else None
    ended = trace.ended
    return RunSummary(
        name=(first.run or first.scenario if first else "") or path,
        scenario=first.scenario if first else path,
        title="",
        target=first.target if first else "",
        world=first.world if first else "",
        seed=first.seed if first else 0,
        verdict=verdict,
        history=path,
        frames=ended.frames if ended else (),
        traceback=ended.traceback if ended else "",
    )


class Lack(msgspec.Struct, frozen=True):
    """What is missing and of which kind, why, and how many runs it cost."""

    missing: str
    kind: LackKind
    reason: str
    runs: int

    @property
    def name(self) -> str:
        """What is missing, in words."""
        return f"wire {self.missing}" if self.kind == "wire" else self.missing

    @property
    def remedy(self) -> str:
        """What to do about what no run used; "" for what explains itself."""
        return _REMEDIES.get(self.kind, "")


_REMEDIES: dict[LackKind, str] = {
    "wire": "; name the wires that it speaks with --wire, or in its profile",
    "unused": "; connect it or declare it: docs/profiles.md#capabilities",
}


def lacks(runs: Sequence[RunSummary]) -> list[Lack]:
    """What the runs that are not applicable lack, that which cost most runs first."""
    lost = Counter(
        (lack.missing, lack.kind, lack.reason)
        for run in runs
        if run.word == "not_applicable"
        for lack in run.verdict.not_applicable
        if lack.missing
    )
    return [Lack(*lack, number) for lack, number in lost.most_common()]


def _seen(run: Run) -> Iterator[str]:
    """Yield the incidents that the scenario is made after and that a finding of the run shows.

    An agent that asked no model, or whose finding follows from its crash, repeats none.
    """
    if not run.history.trace.exchanges:
        return
    codes = [finding.code for finding in run.verdict.failing if not finding.follows]
    for source in run.scenario.source:
        row = incident(source)
        if row and any(map(row.shows, codes)):
            yield f"{row.where.partition(' ')[0].rstrip(';,')}: {row.symptom} ({source})"


def evidence(history: History, findings: tuple[Finding, ...]) -> dict[int, str]:
    """The lines of the events that the findings name: when (if the run has times), and what."""
    wanted = {n for finding in findings for n in finding.events}
    if not wanted:
        return {}
    found = event_lines(history, wanted)
    times = {event.n: event.at_ms for event in history.events}
    if not any(times.values()):
        return found
    return {n: f"{at(times[n]):>10}  {line}" for n, line in found.items()}
