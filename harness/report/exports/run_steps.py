"""The steps of a run as pictures show them: who turned to whom, in the words of the timeline.

A picture has room for some steps only. Those that begin to prove a finding are kept, then the first
ones; what is left out is counted where it stood.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from harness.core.history.events import Answered, AnyEvent, Called, Killed, Marked, Stored
from harness.core.values.verdict import Finding
from harness.report.exports.exported_run import ExportedRun
from harness.report.run_timeline import is_dull, marks_of
from harness.verdicts.event_lines import event_lines

USER, MODEL, STORE = "user", "model", "store"
_LANES = {"inbox": USER, "outbox": USER, "approval": USER, "store": STORE, "file": STORE}
_SIGN = 7
"""Where the words of a line begin, after the seam; an arrow or another sign may stand there."""


class RunStep(msgspec.Struct, frozen=True):
    """A step between the agent and one other side; of a note about the run, `lane` is "".

    A tool's lane is its name behind `tool `. `comes`: it leads to the agent. `is_bent`: a fault
    bent it, or it failed. `findings` are those that it begins to prove.
    """

    n: int
    lane: str
    words: str
    comes: bool = False
    is_bent: bool = False
    findings: tuple[Finding, ...] = ()


def steps_of(run: ExportedRun) -> list[RunStep]:
    """The steps of a run; an event without a finding that says what a neighbour says is none."""
    said, marks = event_lines(run.history), marks_of(run.verdict)
    found: list[RunStep] = []
    for event in run.history.events:
        if event.n in said and (event.n in marks or not _is_left_out(event)):
            found.append(_step(run, event, said[event.n], tuple(marks.get(event.n, ()))))
    return found


def _is_left_out(event: AnyEvent) -> bool:
    if isinstance(event, Stored):
        return not (event.added or event.changed or event.gone)
    return is_dull(event)


def _step(run: ExportedRun, event: AnyEvent, line: str, findings: tuple[Finding, ...]) -> RunStep:
    words = line[_SIGN:].lstrip("←→= ")
    lane, comes, is_bent = "", False, isinstance(event, (Killed, Marked))
    if isinstance(event, Stored):
        lane = STORE
    elif isinstance(event, (Called, Answered)):
        lane, comes = _lane(run, event), isinstance(event, Answered)
    if isinstance(event, Answered):
        is_bent = bool(event.faults) or event.outcome != "ok" or (event.status or 0) >= 400
    return RunStep(event.n, lane, words if lane else line, comes, is_bent, findings)


def _lane(run: ExportedRun, event: Called | Answered) -> str:
    if event.seam == "tool":
        return f"tool {run.tools.get(event.key, '')}".rstrip()
    return _LANES.get(event.seam, MODEL)


def lanes_of(steps: Sequence[RunStep]) -> list[str]:
    """The sides of the steps, in the order in which they are met."""
    return list(dict.fromkeys(step.lane for step in steps if step.lane))


def shortened(steps: Sequence[RunStep], most: int) -> Iterator[RunStep | int]:
    """At most this number of steps, and between them how many were left out."""
    marked = [at for at, step in enumerate(steps) if step.findings][:most]
    others = (at for at in range(len(steps)) if at not in set(marked))
    kept = sorted(
        [*marked, *(at for at, _ in zip(others, range(most - len(marked)), strict=False))]
    )
    after = 0
    for at in kept:
        if at > after:
            yield at - after
        yield steps[at]
        after = at + 1
    if after < len(steps):
        yield len(steps) - after
