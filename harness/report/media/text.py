"""A line for each run, the whole report of those that are to be seen, and a summary.

A single run gets its report at once. `verbose` shows every run whole, `quiet` only the failing ones
in a line or two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from harness.report import command_summary, run_report
from harness.report.run_report import Paint, plain
from harness.verdicts.command_events import CommandFinished, CommandStarted, Event
from harness.verdicts.result import Result, label
from harness.verdicts.tallies import CauseTally

Detail = Literal["quiet", "usual", "verbose"]
WIDTH = 100

REPORT = "report.txt"
"""The name of the file that holds each run of a command with many."""

EACH_RUN = "harness run, each run of"
"""The first words of that file, which tell it from other files of the same name."""


class Text:
    """The runs in lines of text, as `harness run -v` prints them."""

    def __init__(
        self,
        detail: Detail = "verbose",
        width: int = WIDTH,
        paint: Paint = plain,
        *,
        head: str = "",
    ) -> None:
        self._head, self._detail, self._width, self._paint = head, detail, width, paint
        self._planned = self._column = 0
        self._results: list[Result] = []
        self._before: Result | None = None

    def __call__(self, event: Event) -> Iterator[str]:
        """Yield the line of a run, and what stands below all lines at the end."""
        match event:
            case CommandStarted(planned=planned):
                self._planned = len(planned)
                self._column = run_report.label_width([label(*names) for names in planned])
                yield from [self._head, ""] if self._head else ()
            case Result():
                self._results.append(event)
                yield from self._lines(event)
            case CommandFinished():
                yield from self._end()
                yield from command_summary.baseline_lines(event.baseline)

    @property
    def _is_short(self) -> bool:
        """Whether the output omits the block of each run."""
        return self._detail == "quiet" or (self._detail == "usual" and self._planned > 1)

    def _lines(self, run: Result) -> Iterator[str]:
        wrong = run.word in ("fail", "unknown")
        if wrong if self._detail == "quiet" else run.word != "not_applicable" or not self._is_short:
            yield run_report.entry(run, self._before, self._column, self._width, self._paint)
            if self._is_short:
                yield from run_report.cause(run, self._before, self._width)
            self._before = run

    def _end(self) -> Iterator[str]:
        runs, width, paint = self._results, self._width, self._paint
        verbose = self._detail == "verbose"
        if not self._is_short:
            yield from run_report.blocks(runs, width, paint, verbose)
        if self._detail != "quiet":
            yield ""
            if self._planned > 1:
                yield from command_summary.summary(runs, width, paint, verbose)
            else:
                tally = CauseTally.of(runs)
                yield from command_summary.first_lines(
                    tally, runs, width, paint, with_command=False
                )
                for text in command_summary.not_applicable(runs):
                    yield from run_report.wrapped(text, width, "")
        yield command_summary.totals(runs, paint, self._planned)
