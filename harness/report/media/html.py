"""The page of the runs: one HTML file that needs no network, with the events of each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from harness.core.history.history import History
from harness.core.values.errors import InputError
from harness.redaction.encoder import Encoded
from harness.report.report_parts import Collected
from harness.runner.run_folder import read_history
from harness.verdicts.command_events import CommandFinished, CommandStarted
from harness.verdicts.result import Result

Read = Callable[[Result], History | None]


class Html(Collected):
    """The runs as one HTML page, with their events and messages, and the matrices of a command."""

    def __init__(self, read: Read | None = None) -> None:
        super().__init__()
        self._read = read or kept_history

    def written(self, ended: CommandFinished) -> Iterable[str]:
        """Return the page."""
        return [document(self._results, self._command, self._read, ended)]


def document(
    results: Sequence[Result],
    command: CommandStarted,
    read: Read,
    ended: CommandFinished,
) -> Encoded:
    """Return the page; `read` returns the history of a run."""
    from harness.report.html.html_page import in_order, page, page_part

    targets = ", ".join(dict.fromkeys(run.target for run in results if run.target))
    title = (
        command.title or targets or ("judged recordings" if command.verb == "judge" else "no run")
    )
    parts = (page_part(run, read(run)) for run in in_order(results))
    return Encoded(b"".join(page(title, parts, ended.matrices, ended.reach)).decode())


def kept_history(run: Result) -> History | None:
    """Return the history of a run that was kept on disk; None without one."""
    try:
        return read_history(Path(run.history)) if run.history else None
    except InputError:  # it was removed in the meantime
        return None
