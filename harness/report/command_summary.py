"""The end of a command's report: causes, classes, and runs not applicable, unknown or incomplete.

It fits one screen for any number of runs. The last line counts the runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from harness.core.values.verdict import CLASSES, FindingClass, Verdict
from harness.report.asked_tally import AskedTally
from harness.report.cause_tally import CauseTally
from harness.report.run_report import WORDS, Paint, plain, wrapped
from harness.results.event_lines import counted
from harness.results.result import Result, lacks

REASONS_MAX = 5
"""The most reasons of one kind that are shown."""

_UNREACHED = {"run.unplayed_turn": "turns of the script", "run.silent_fault": "faults"}
"""The steps that a run may leave out, by the rule that is then not applied."""


def summary(
    runs: Sequence[Result], width: int, paint: Paint = plain, verbose: bool = False
) -> Iterator[str]:
    """Yield the runs by cause, by class, and by the reason why a check was not applied.

    Each section ends with a blank line.
    """
    tally = CauseTally.of(runs)
    reasons = (_classes(runs), _incidents(runs), not_applicable(runs), _unknown(runs))
    never = AskedTally(run.verdict for run in runs).lines(verbose)
    said = (text for part in (*reasons, _unreached(runs), never) for text in part)
    lines = (line for text in said for line in wrapped(text, width, ""))
    sections = (tally.lines(width, paint), _ways_on(tally, runs), lines)
    for section in map(tuple, sections):
        yield from (*section, "") if section else ()


def _ways_on(tally: CauseTally, runs: Sequence[Result]) -> Iterator[str]:
    """Yield the command that explains the first cause, and the one that plays its example."""
    for group in tally.groups()[:1]:
        repeat = next((run.repeat for run in runs if run.name == group.example), "")
        yield f"explain: harness explain {group.finding.code}"
        if repeat:
            yield f"repeat:  {repeat}"


def _classes(runs: Sequence[Result]) -> Iterator[str]:
    """Yield the failed runs by the worst class among their causes."""
    worst = Counter(_worst_class(run.verdict) for run in runs if run.word == "fail")
    said = [f"{name} {worst[name]}" for name in CLASSES if worst[name]]
    said += [f"no class {worst['']}"] if worst[""] else []
    if said:
        yield f"failed runs by their worst cause: {', '.join(said)}"


def _worst_class(verdict: Verdict) -> FindingClass | Literal[""]:
    found = {finding.class_ for finding in verdict.failing if not finding.follows}
    return next((name for name in CLASSES if name in found), "")


def _incidents(runs: Sequence[Result]) -> Iterator[str]:
    seen = Counter(incident for run in runs for incident in run.seen)
    for most, _ in seen.most_common(1):
        number = counted(len(seen), "public incident")
        yield f"would repeat {number} (-v names them), most often {most}"


def not_applicable(runs: Sequence[Result]) -> Iterator[str]:
    """Yield the runs that lack a capability, then those that this world or target cannot play."""
    for lack in lacks(runs):
        yield f"{counted(lack.runs, 'run')} not applicable: {lack.reason}{lack.remedy}"
    yield from _by_reason(
        "not applicable",
        (
            (lack.group, lack.reason, run.name)
            for run in runs
            if run.word == "not_applicable"
            for lack in run.verdict.not_applicable
            if lack.check == "run" and not lack.missing
        ),
    )


def _unknown(runs: Sequence[Result]) -> Iterator[str]:
    unknown = (run for run in runs if run.word == "unknown")
    yield from _by_reason(
        "unknown", (((doubt,), doubt, run.name) for run in unknown for doubt in run.verdict.doubts)
    )


def _by_reason(word: str, found: Iterable[tuple[tuple[str, ...], str, str]]) -> Iterator[str]:
    """Yield reasons with their number of runs; reasons of one group count as one."""
    times, first = Counter[tuple[str, ...]](), dict[tuple[str, ...], tuple[str, str]]()
    for group, reason, name in found:
        times[group] += 1
        first.setdefault(group, (reason, name))
    for group, number in times.most_common(REASONS_MAX):
        reason, name = first[group]
        yield f"{counted(number, 'run')} {word}: {reason} (as in {name})"
    if len(times) > REASONS_MAX:
        yield f"{word} for {len(times) - REASONS_MAX} other reasons: -v names them"


def _unreached(runs: Sequence[Result]) -> Iterator[str]:
    """Yield the steps that the agent's policy left out of runs that count."""
    left = [
        {lack.check for lack in run.verdict.not_applicable} & {*_UNREACHED}
        for run in runs
        if run.word != "not_applicable"
    ]
    times = Counter(check for found in left for check in found)
    if times:
        runs_left = counted(sum(map(bool, left)), "run")
        parts = ", ".join(f"{what} in {times[c]}" for c, what in _UNREACHED.items() if times[c])
        yield f"{runs_left} ended before the last step, which is not a finding: {parts}"


def totals(runs: Sequence[Result], paint: Paint = plain, planned: int = 0) -> str:
    """Return the last line: counts by verdict, the target and the seed."""
    below = below_words(Counter(f.class_ for run in runs for f in run.verdict.below))
    return f"{counts(runs, paint, planned)}{below}; {_targets(runs)}; {_seeds(runs)}"


def counts(
    runs: Sequence[Result], paint: Paint = plain, planned: int = 0, noun: str = "run"
) -> str:
    """Return the number of runs, and the number of each verdict."""
    words = Counter(run.word for run in runs)
    parts = [paint(w, f"{words[w]} {verb}") for w, verb in WORDS.items() if words[w]]
    if planned > len(runs):
        parts.append(f"{planned - len(runs)} not played")
    return f"{counted(max(planned, len(runs)), noun)}: {', '.join(parts) or 'nothing ran'}"


def short_totals(runs: Sequence[Result], paint: Paint = plain, planned: int = 0) -> str:
    """Return the last line with the failing counts only, and without the seeds."""
    return f"{counts(runs, paint, planned)}; {_targets(runs)}"


def _targets(runs: Sequence[Result]) -> str:
    return f"target {', '.join(dict.fromkeys(run.target for run in runs))}"


def below_words(times: Mapping[FindingClass | Literal[""], int]) -> str:
    """Return the number of findings that fail no run, by class; "" without any."""
    said = [f"{times[c]} {'weaknesses' if c == 'weakness' else c}" for c in CLASSES if times.get(c)]
    return f"; not failing: {', '.join(said)}" if said else ""


def _seeds(runs: Sequence[Result]) -> str:
    seeds = sorted({run.seed for run in runs})
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
