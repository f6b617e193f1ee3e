"""`--html FILE`: writes the page of the runs of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.cli import terminal
from harness.core.values.errors import InputError

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.report.html.html_page import PagePart
    from harness.results.result import Result

_F = TypeVar("_F", bound=Callable[..., Any])


def _file(context: click.Context, option: click.Parameter, given: Path | None) -> Path | None:
    """Return the file of `--html`, after a check that it can be written."""
    from harness.files.regular_file import check_writable

    if given is not None:
        check_writable(given)
    return given


def html(function: _F) -> _F:
    """Add `--html FILE`, which is checked before the verb begins."""
    option = click.option(
        "--html", "page", type=click.Path(path_type=Path), metavar="FILE", callback=_file,
        help="Write the runs as one HTML page that needs no network.",
    )  # fmt: skip
    return option(function)


def kept_history(run: Result) -> History | None:
    """Return the history of a run that was kept on disk; None without one."""
    from harness.runner.run_folder import read_history

    try:
        return read_history(Path(run.history)) if run.history else None
    except InputError:  # it was removed in the meantime
        return None


def write_runs(
    file: Path,
    runs: Sequence[Result],
    title: str = "",
    read: Callable[[Result], History | None] = kept_history,
) -> None:
    """Write the page of these runs; `read` returns the history of each."""
    from harness.report.html.html_page import in_order, page_part

    write_page(file, title or _title(runs), (page_part(run, read(run)) for run in in_order(runs)))


def write_page(file: Path, title: str, parts: Iterable[PagePart]) -> None:
    """Write the page of these parts."""
    from harness.files.regular_file import write_atomically
    from harness.report.html.html_page import page

    write_atomically(file, page(title, parts), durable=False)
    terminal.note(f"page: {file}")


def _title(runs: Sequence[Result]) -> str:
    targets = ", ".join(dict.fromkeys(run.target for run in runs))
    return f"{targets or 'no run'}"
