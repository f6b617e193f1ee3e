"""The page of the runs: one HTML file that needs no network, with the events of each run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.core.history.history import History
from harness.core.values.errors import InputError
from harness.redaction.encoder import Encoded
from harness.report.report_parts import Document
from harness.runner.run_folder import read_history
from harness.verdicts.command_events import CommandStarted, Report
from harness.verdicts.result import Result

Read = Callable[[Result], History | None]


def html(results: Sequence[Result], command: CommandStarted) -> Iterator[str]:
    """The runs as one HTML page, with their events and messages."""
    yield document(results, command, kept_history)


def reading(read: Read) -> Report:
    """Return this report with the histories that `read` returns, for runs that are kept nowhere."""
    return Document(lambda results, command: [document(results, command, read)])


def document(results: Sequence[Result], command: CommandStarted, read: Read) -> Encoded:
    """Return the page; `read` returns the history of a run."""
    from harness.report.html.html_page import in_order, page, page_part

    targets = ", ".join(dict.fromkeys(run.target for run in results if run.target))
    title = (
        command.title or targets or ("judged recordings" if command.verb == "judge" else "no run")
    )
    parts = (page_part(run, read(run)) for run in in_order(results))
    return Encoded(b"".join(page(title, parts)).decode())


def kept_history(run: Result) -> History | None:
    """Return the history of a run that was kept on disk; None without one."""
    try:
        return read_history(Path(run.history)) if run.history else None
    except InputError:  # it was removed in the meantime
        return None
