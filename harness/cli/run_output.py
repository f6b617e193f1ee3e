"""What `harness run` prints: a line for each run, a screen of causes, or JSON Lines.

Many runs get a screen of causes; their `-v` report is written into the folder of the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from harness.cli import terminal
from harness.report import command_summary, json_lines, report_file, run_report
from harness.report.first_screen import first_screen
from harness.report.report_file import REPORT
from harness.results.result import Result, lacks

Detail = Literal["none", "quiet", "usual", "verbose", "json"]
"""How much is printed: nothing, failures only, causes, each run whole, or JSON Lines."""

WRONG = ("fail", "unknown")

LISTED_MAX = 10
"""The most runs with a line each; more are reported by cause."""


class RunOutput:
    """The report of the runs of one command, printed as they come in.

    `planned` holds the name and the scenario of each run. A single run gets the whole report.
    `report` is the file for the report of many runs, `named` its name as the user wrote it. `again`
    returns a short command for a run, by its name.
    """

    def __init__(
        self,
        planned: Sequence[tuple[str, str]],
        detail: Detail,
        report: Path = Path(REPORT),
        named: Path = Path(REPORT),
        again: Callable[[str], str] | None = None,
    ) -> None:
        self._planned, self._detail = len(planned), detail
        self._report, self._named, self._again = report, named, again
        self._width, self._paint = terminal.width(), terminal.paint()
        labels = [run_report.label(*names) for names in planned]
        self._column = run_report.label_width(labels)
        self.runs: list[Result] = []
        self._shown: Result | None = None

    def add(self, run: Result) -> None:
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
        """Whether the output omits the block of each run."""
        return self._detail == "quiet" or (self._detail == "usual" and self._planned > 1)

    @property
    def _is_screen(self) -> bool:
        """Whether only the causes are printed."""
        return self._detail == "usual" and self._planned > LISTED_MAX

    def _has_line(self, run: Result) -> bool:
        if self._is_screen or self._detail == "none":
            return False
        if self._detail == "quiet":
            return run.word in WRONG
        return run.word != "not_applicable" or not self._is_short

    def end(self) -> None:
        """Print the part below the lines."""
        if self._is_screen:
            report_file.write(self._report, self.runs, self._planned)
        if self._detail == "none":
            return
        lines = self._json() if self._detail == "json" else self._text()
        for line in lines:
            terminal.out(line)

    def _json(self) -> Iterator[str]:
        missing, left = lacks(self.runs), self._planned - len(self.runs)
        if missing or left:
            yield json_lines.last_line(missing, left)

    def _text(self) -> Iterator[str]:
        if self._is_screen:
            yield from first_screen(
                self.runs,
                self._width,
                self._paint,
                planned=self._planned,
                report=str(self._named),
                again=self._again,
            )
            return
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
            is_whole = self._detail == "verbose"
            yield from command_summary.summary(self.runs, self._width, self._paint, is_whole)
        else:
            for text in command_summary.not_applicable(self.runs):
                yield from run_report.wrapped(text, self._width, "")
