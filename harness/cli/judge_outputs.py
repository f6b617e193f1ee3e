"""Writes the files and the baseline of `harness judge`, by the mechanism of `harness run`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.cli.baseline import chosen_baseline
from harness.cli.output_files import chosen_files

if TYPE_CHECKING:
    from harness.cli.run_output import Detail
    from harness.core.history.history import History
    from harness.report.judge_report import JudgedFile
    from harness.results.result import Result


class JudgeOutputs:
    """Collects the transcripts of a command for its output files.

    They stay in memory only if a file needs them. `read` returns the history of one for the page.
    """

    def __init__(self, page: Path | None, read: Callable[[Result], History | None]) -> None:
        self._files, self._baseline = chosen_files(), chosen_baseline()
        self._page, self._read = page, read
        self._runs: list[Result] = []

    def take(self, file: JudgedFile) -> JudgedFile:
        """Return the file with its accepted findings set apart."""
        from harness.report.judged_runs import judged_runs

        runs = [self._baseline.take(run) for run in judged_runs(file)]
        if self._page or self._files.wants_runs:
            self._runs += runs
        taken = zip(file.transcripts, runs[: len(file.transcripts)], strict=True)
        transcripts = tuple(msgspec.structs.replace(t, verdict=run.verdict) for t, run in taken)
        return msgspec.structs.replace(file, transcripts=transcripts)

    def write(self) -> None:
        """Write the output files for the transcripts judged so far."""
        from harness.cli.html_report import write_runs
        from harness.report.judged_runs import NOUN

        self._files.write(self._runs, NOUN)
        if self._page:
            write_runs(self._page, self._runs, "judged recordings", self._read)

    def end(self, detail: Detail) -> None:
        """Write the output files and the baseline of a whole command, and print its differences."""
        self._baseline.write()
        self.write()
        self._baseline.tell(detail)
