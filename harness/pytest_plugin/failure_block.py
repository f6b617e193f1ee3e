"""The text of a failing test: the worst cause, its proof, the repeat line, the rest.

For any number of runs it is one block of few lines. `-v` shows each run whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import takewhile

import msgspec

from harness.checks.judge.causes import rank
from harness.core.values.verdict import Finding
from harness.report.run_report import CRASHED, codes, cut, finding_note, one_line, proof, ways_on
from harness.verdicts.event_lines import counted
from harness.verdicts.result import Result, with_cause

WIDTH = 100
CAUSE_MAX = 240
"""The most characters of the first line, which pytest repeats in its summary."""

FRAMES_MAX, PROOF_MAX = 4, 4
"""The most frames of a crash, and the most events, in a block."""

_LAST = 99
"""The rank of a run without a finding, which is unknown or lacks what a test expects."""


class _Reason(msgspec.Struct, frozen=True):
    """Why a run fails its test: the text, and the finding if there is one."""

    text: str
    finding: Finding | None = None


def failure_block(runs: Sequence[Result], wanted: frozenset[str], room: int) -> list[str]:
    """Return the worst cause with a run that shows it, then the others, in at most `room` lines.

    `wanted` are the codes that the test expects.
    """
    first, *others = _groups(runs, wanted)
    lines = [*_first_cause(first)]
    left = room - len(lines)
    told = others if len(others) <= left else others[: max(left - 1, 0)]
    lines += [_one_line(group) for group in told]
    if hidden := sum(len(group) for group in others[len(told) :]):
        lines.append(f"and {counted(hidden, 'run')} with other causes; -v shows each run")
    return lines


_Group = list[tuple[_Reason, Result]]
"""The runs with one cause."""


def _groups(runs: Sequence[Result], wanted: frozenset[str]) -> list[_Group]:
    """Return the runs by code and cause: the worst cause first, then the most frequent one."""
    groups: dict[Hashable, _Group] = {}
    for run in runs:
        reason = _reason(run, wanted)
        found = reason.finding
        key = with_cause(found).group if found else reason.text
        groups.setdefault(key, []).append((reason, run))

    def weight(group: _Group) -> tuple[int, int]:
        found = group[0][0].finding
        return rank(found) if found else _LAST, -len(group)

    return sorted(groups.values(), key=weight)


def _reason(run: Result, wanted: frozenset[str]) -> _Reason:
    """Return the first finding that fails and is not expected.

    Without one, return the expected codes that were not found, or why the run is unknown."""
    verdict = run.verdict
    found = next((f for f in verdict.failing if f.code not in wanted), None)
    missing = sorted(wanted - {f.code for f in verdict.findings})
    if found is not None:
        note = finding_note(found, fails=True).replace("  ", " ")
        return _Reason(f"{found.code}{note}: {one_line(found)}", found)
    if missing:
        return _Reason(f"expected and not found: {', '.join(missing)}")
    return _Reason(f"{run.word}: {'; '.join(verdict.doubts)}")


def _first_cause(group: _Group) -> Iterator[str]:
    reason, run = group[0]
    yield cut(reason.text, CAUSE_MAX)
    yield f"  in {run.name}{_and_others(group)}"
    if reason.finding:
        yield from _frames(run, reason.finding)
        yield from proof(reason.finding, run.evidence, WIDTH, most=PROOF_MAX)
    yield from ways_on(run)
    yield from _rest(run, reason.finding)


def _and_others(group: _Group) -> str:
    return f" and {counted(len(group) - 1, 'other run')}" if len(group) > 1 else ""


def _frames(run: Result, found: Finding) -> Iterator[str]:
    """Yield the agent's own lines of a crash."""
    if found.code == CRASHED:
        yield from (cut(f"    {frame}", WIDTH) for frame in run.frames[-FRAMES_MAX:])


def _rest(run: Result, found: Finding | None) -> Iterator[str]:
    """Yield the findings that follow from it, and the other findings, each in a line."""
    findings = run.verdict.findings
    at = findings.index(found) if found else len(findings)
    follows = [*takewhile(lambda finding: finding.follows, findings[at + 1 :])]
    beside = [*findings[:at], *findings[at + 1 + len(follows) :]]
    for word, these in (("follows", follows), ("beside", beside)):
        if these:
            yield cut(f"  {word + ':':9}{codes(these)}", WIDTH)


def _one_line(group: _Group) -> str:
    reason, run = group[0]
    return cut(f"{run.name}{_and_others(group)}: {reason.text}", WIDTH)
