"""The report of many runs as a file beside their histories: what `harness run -v` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.core.values.errors import InputError
from harness.core.values.visible_text import visible
from harness.files.regular_file import head_of, write_atomically
from harness.redaction.encoder import text_bytes
from harness.report import command_summary, run_report
from harness.results.result import Result

REPORT = "report.txt"
HEAD = "harness run, each run of"
"""The first words of the file, which tell it from other files of the same name."""

WIDTH = 100


def write(path: Path, runs: Sequence[Result], planned: int) -> None:
    """Write the report. Raises InputError if it cannot be written."""
    lines = (text_bytes(f"{visible(line)}\n") for line in _lines(runs, planned))
    write_atomically(path, lines, durable=False)


def _lines(runs: Sequence[Result], planned: int) -> Iterator[str]:
    yield f"{HEAD} {planned}"
    yield ""
    yield from command_summary.summary(runs, WIDTH, verbose=True)
    column = run_report.label_width([run_report.label(run.name, run.scenario) for run in runs])
    before: Result | None = None
    for run in runs:
        yield run_report.entry(run, before, column, WIDTH)
        before = run
    yield from run_report.blocks(runs, WIDTH, verbose=True)
    yield ""
    yield command_summary.totals(runs, planned=planned)


def is_report(path: str) -> bool:
    """Whether a file is a report of this kind."""
    if not path.endswith(f"/{REPORT}"):
        return False
    try:
        return head_of(Path(path)).startswith(HEAD.encode())
    except InputError:
        return False
