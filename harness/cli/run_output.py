"""What `harness run` prints: a line for each run, a summary, or one JSON object for each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from harness.cli import terminal
from harness.report import command_summary, json_lines, run_report
from harness.report.run_summary import RunSummary, lacks

Detail = Literal["quiet", "usual", "verbose", "json"]
"""How much is said: failures only, causes, each run whole, or JSON Lines."""

WRONG = ("fail", "unknown")


class RunOutput:
    """The report of the runs of one command, printed as they come in.

    `planned` holds the name and the scenario of each run. The report of a single one is whole.
    """

    def __init__(self, planned: Sequence[tuple[str, str]], detail: Detail) -> None:
        self._planned, self._detail = len(planned), detail
        self._width, self._paint = terminal.width(), terminal.paint()
        labels = [run_report.label(*names) for names in planned]
        self._column = run_report.label_width(labels)
        self.runs: list[RunSummary] = []
        self._shown: RunSummary | None = None

    def add(self, run: RunSummary) -> None:
        """Print the lines of a run."""
        self.runs.append(run)
        if self._detail == "json":
            terminal.out(json_lines.run_line(run))
        elif self._has_line(run):
            terminal.out(run_report.entry(run, self._shown, self._column, self._width, self._paint))
            if self._is_short:
                for line in run_report.cause(run, self._shown, self._width):
                    terminal.out(line)
            self._shown = run

    @property
    def _is_short(self) -> bool:
        """Whether no block of each run follows."""
        return self._detail == "quiet" or (self._detail == "usual" and self._planned > 1)

    def _has_line(self, run: RunSummary) -> bool:
        if self._detail == "quiet":
            return run.word in WRONG
        return run.word != "not_applicable" or not self._is_short

    def end(self) -> None:
        """Print what stands below the lines."""
        lines = self._json() if self._detail == "json" else self._text()
        for line in lines:
            terminal.out(line)

    def _json(self) -> Iterator[str]:
        missing, left = lacks(self.runs), self._planned - len(self.runs)
        if missing or left:
            yield json_lines.last_line(missing, left)

    def _text(self) -> Iterator[str]:
        if not self._is_short:
            yield from run_report.blocks(
                self.runs, self._width, self._paint, self._detail == "verbose"
            )
        if self._detail != "quiet":
            yield ""
            yield from self._summary()
        yield command_summary.totals(self.runs, self._paint, self._planned)

    def _summary(self) -> Iterator[str]:
        if self._planned > 1:
            yield from command_summary.summary(self.runs, self._width, self._paint)
        else:
            for text in command_summary.not_applicable(self.runs):
                yield from run_report.wrapped(text, self._width, "")
