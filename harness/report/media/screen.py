"""The first screen of a command with many runs: what is wrong with the agent, in 24 lines.

The causes come in order of weight, each with its number of runs and a command that repeats one. A
line wider than the screen counts as the rows that it takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from harness.report.command_summary import (
    baseline_lines,
    cause_text,
    cause_title,
    headline,
    short_totals,
)
from harness.report.reach_lines import reach_lines
from harness.report.run_report import Paint, cut, plain, wrapped
from harness.verdicts.command_events import CommandFinished, CommandStarted, Event
from harness.verdicts.event_lines import counted
from harness.verdicts.result import Result, lacks, reach_of
from harness.verdicts.tallies import CauseGroup, CauseTally

LISTED_MAX = 10
"""The most runs with a line each; more are reported by cause."""

ROWS = 24
"""The least number of lines of a terminal."""

REASONS_MAX = 2
"""The most rows for the reasons of one kind."""


class Screen:
    """The causes of many runs on one screen, by weight."""

    def __init__(
        self,
        width: int = 100,
        paint: Paint = plain,
        report: str = "",
        again: Callable[[str], str] | None = None,
    ) -> None:
        self._width, self._paint, self._report, self._again = width, paint, report, again
        self._planned, self._results = 0, list[Result]()

    def __call__(self, event: Event) -> Iterator[str]:
        """Yield the screen at the end."""
        match event:
            case CommandStarted():
                self._planned = len(event.planned)
            case Result():
                self._results.append(event)
            case CommandFinished():
                yield from first_screen(
                    self._results, self._width, self._paint, planned=self._planned,
                    report=self._report, again=self._again,
                )  # fmt: skip
                yield from baseline_lines(event.baseline)


def first_screen(
    runs: Sequence[Result],
    width: int,
    paint: Paint = plain,
    *,
    planned: int = 0,
    report: str = "",
    again: Callable[[str], str] | None = None,
) -> list[str]:
    """Yield the lines; `report` is the file that holds every run, `planned` the number of runs.

    `again` returns the command that repeats a run by name, if it differs from the run's own.
    """
    repeats = {run.name: run.repeat for run in runs}
    tally, repeat = CauseTally.of(runs), again or repeats.__getitem__
    groups, words = tally.groups(), Counter(run.word for run in runs)
    first = [paint("strong", cut(line, width)) for line in headline(tally, words)]
    first += [""] if first else []
    each = [f"each run: {report}; -v prints it, --html FILE shows it"] if report else []
    causes = sum(group.fails for group in groups)
    end = [*_reasons(runs, width), *each, short_totals(runs, plain, planned, causes)]
    room = ROWS - sum(_rows(line, width) for line in end) - 1 - len(first)
    said = list(_causes(groups, repeat, width, room, paint))
    end[-1] = short_totals(runs, paint, planned, causes)
    return [*first, *said, *([""] if said else []), *end]


def _rows(line: str, width: int) -> int:
    return max(-(-len(line) // width), 1)


def _causes(
    groups: Sequence[CauseGroup],
    repeat: Callable[[str], str],
    width: int,
    room: int,
    paint: Paint,
) -> Iterator[str]:
    """Return as many causes as fit into `room`; one line counts the others."""
    if not groups:
        return
    yield paint("strong", " runs  cause, and a command that repeats one of them")
    room -= 1
    for number, group in enumerate(groups):
        line = f"       {repeat(group.example)}".rstrip()
        rows, is_last = 1 + (_rows(line, width) if line else 0), number == len(groups) - 1
        if rows > room - (not is_last):
            yield cut(f"       and {_left(groups[number:])}", width)
            return
        room -= rows
        yield _head(group, width, paint)
        yield from [line] if line else ()


def _head(group: CauseGroup, width: int, paint: Paint) -> str:
    title, message = cause_title(group), cause_text(group).removeprefix("the target crashed ")
    left = cut(message, max(width - len(title) - 9, 20))
    return f"{group.runs:>5}  {paint('fail' if group.fails else 'faint', title)}  {left}"


def _left(groups: Sequence[CauseGroup]) -> str:
    codes = dict.fromkeys(group.finding.code for group in groups)
    return f"{counted(len(groups), 'more cause')}: {', '.join(codes)}"


def _reasons(runs: Sequence[Result], width: int) -> Iterator[str]:
    """Yield the runs not applicable and unknown, the incidents, and what was never reached."""
    missing: Counter[str] = Counter()
    for lack in lacks(runs):
        missing[lack.name] += lack.runs
    said = [f"{name} {number}" for name, number in missing.most_common()]
    said += [f"the scenario's own needs {other}"] if (other := _otherwise(runs)) else []
    if said:
        why = " (docs/profiles.md#capabilities)" if missing else ""
        yield from _short(f"not applicable{why}: {', '.join(said)}", width)
    for lack in lacks(runs):
        if lack.kind in ("tools", "mixed"):
            yield from _short(f"{lack.reason}{lack.remedy}", width)
    doubts = [doubt for run in runs if run.word == "unknown" for doubt in run.verdict.doubts[:1]]
    if doubts:
        most, number = Counter(doubts).most_common(1)[0]
        others = (
            f", and {counted(len(doubts) - number, 'other run')}" if len(doubts) > number else ""
        )
        yield from _short(f"unknown: {most} ({counted(number, 'run')}){others}", width)
    if seen := Counter(incident for run in runs for incident in run.seen):
        first = seen.most_common(1)[0][0]
        yield cut(f"would repeat {counted(len(seen), 'public incident')}, such as {first}", width)
    yield from reach_lines(reach_of(runs), width)


def _otherwise(runs: Sequence[Result]) -> int:
    """Return the number of runs that are not applicable for a reason other than a lack."""
    return sum(
        run.word == "not_applicable" and not any(n.missing for n in run.verdict.not_applicable)
        for run in runs
    )


def _short(text: str, width: int) -> Iterable[str]:
    """Return prose in at most the rows of a reason."""
    lines = list(wrapped(text, width, ""))
    if len(lines) > REASONS_MAX:
        lines[REASONS_MAX - 1] = cut(f"{lines[REASONS_MAX - 1]} …", width)
    return lines[:REASONS_MAX]
