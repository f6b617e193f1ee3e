"""`--html FILE`: writes the page of the runs of a command, or of the runs below a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.cli import terminal
from harness.core.values.errors import InputError
from harness.core.values.verdict import Verdict, VerdictWord

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
    from harness.cli.show import read

    try:
        return read(Path(run.history)) if run.history else None
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

    _write(file, title or _title(runs), (page_part(run, read(run)) for run in in_order(runs)))


def write_folder(file: Path, histories: Sequence[Path], named: Path) -> None:
    """Write the page of the runs of these histories; `named` is the folder as the user wrote it.

    Each history is read once. Its place in the page follows from its verdict, so all are read
    before the page begins. For each verdict, the memory holds details of at most one page's size.
    """
    from harness.report.html.html_page import ORDER, PAGE_MAX_BYTES, PagePart

    parts: list[PagePart] = []
    sizes = Counter[VerdictWord]()
    for part in map(_read, histories):
        sizes[part.run.word] += len(part.details)
        is_kept = sizes[part.run.word] <= PAGE_MAX_BYTES
        parts.append(part if is_kept else PagePart(part.run))
    parts.sort(key=lambda part: ORDER.index(part.run.word))
    _write(file, f"The runs of {named}", parts)


def _write(file: Path, title: str, parts: Iterable[PagePart]) -> None:
    from harness.files.regular_file import write_atomically
    from harness.report.html.html_page import page

    write_atomically(file, page(title, parts), durable=False)
    terminal.note(f"page: {file}")


def _title(runs: Sequence[Result]) -> str:
    targets = ", ".join(dict.fromkeys(run.target for run in runs))
    return f"{targets or 'no run'}"


def _read(path: Path) -> PagePart:
    """Read a run from its file; for an unreadable file return an unknown run with the reason."""
    from harness.cli.show import read, verdict
    from harness.report.html.html_page import page_part
    from harness.results.result import of_history

    history: History | None = None
    try:
        history = read(path)
        found = verdict(path, history)
    except InputError as error:
        found = Verdict("unknown", doubts=(f"cannot be read: {error}",))
    return page_part(of_history(history, found, str(path)), history)


def histories_below(run: Path) -> Iterator[Path]:
    """Return the history that RUN names, or each one below the folder, in order of the names."""
    from harness.cli.show import HISTORY, find, folder_of

    folder = folder_of(run)
    found = sorted(folder.rglob(HISTORY)) if folder.is_dir() else []
    yield from found or [find(run)]
