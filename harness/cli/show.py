"""`harness show`: prints the timeline of one run, with its stored verdict or else a new one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import RUNS, NamedPath, every_verb, named_plugins
from harness.cli.reports import html, tell_page
from harness.core.values.errors import InputError
from harness.core.values.verdict import Verdict, VerdictWord

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.report.html.html_page import PagePart


@click.command("show")
@click.argument("run", type=NamedPath())
@html
@named_plugins
@every_verb
def command(run: Path, page: Path | None, as_json: bool) -> int:
    """Print the timeline of one run: turns, calls, answers, rows, findings.

    RUN is the folder of a run, its history.jsonl, or a scenario (@loops/circles) with a run below
    .harness/runs. With --json: its events. With --html: a page of the run, or of all runs below a
    folder.
    """
    from harness.cli import terminal
    from harness.redaction.encoder import Encoded, event_line
    from harness.report.run_timeline import timeline
    from harness.runner.run_folder import read_history

    if page is not None:
        _write_folder(page, list(histories_below(run)), run)
        return 0
    path = find(run)
    history = read_history(path)
    if as_json:
        lines = b"".join(map(event_line, history.events)).decode()
        terminal.out(Encoded(lines.rstrip("\n")))
        return 0
    terminal.out(timeline(history, verdict_of(path, history), terminal.width(), terminal.paint()))
    return 0


def find(run: Path) -> Path:
    """Return the history that RUN names. Raises InputError, which names the runs of a folder."""
    from harness.runner.run_folder import HISTORY

    folder = _folder_of(run)
    path = folder / HISTORY if folder.is_dir() else folder
    if path.is_file():
        return path
    if not folder.exists():
        what = "no such run: name a folder with history.jsonl, or the file"
        # `_folder_of` has changed the path: RUN named a scenario, which has no run yet.
        raise InputError(what if folder is run else _NOT_PLAYED, str(folder))
    below = sorted(str(p.parent) for p in folder.rglob(HISTORY))
    if len(below) == 1:
        return Path(below[0], HISTORY)
    hint = f"name one run of {len(below)}: {below[0]}" if below else "no history.jsonl below it"
    raise InputError(hint, str(folder))


def _folder_of(run: Path) -> Path:
    """Return the folder of a scenario's runs; any other path unchanged."""
    return Path(RUNS, _name_in(run)) if run.suffix == ".yaml" else run


def _name_in(scenario: Path) -> str:
    """Return the name of a scenario; of a file that is gone, the file's name."""
    from harness.files.scenario_file import read_source

    try:
        root = read_source(scenario).root
    except InputError:
        root = None
    return str(root.get("name", scenario.stem)) if isinstance(root, dict) else scenario.stem


_NOT_PLAYED = "no run of this scenario here: `harness run` plays it"


def verdict_of(path: Path, history: History) -> Verdict:
    """Return the stored verdict beside a history, or else a new one."""
    from harness.checks.judge import judge
    from harness.runner.run_folder import read_verdict

    return read_verdict(path) or judge(history)


def histories_below(run: Path) -> Iterator[Path]:
    """Return the history that RUN names, or each one below the folder, in order of the names."""
    from harness.runner.run_folder import HISTORY

    folder = _folder_of(run)
    found = sorted(folder.rglob(HISTORY)) if folder.is_dir() else []
    yield from found or [find(run)]


def _write_folder(file: Path, histories: Sequence[Path], named: Path) -> None:
    """Write the page of the runs of these histories; `named` is the folder as the user wrote it.

    Each history is read once. Its place in the page follows from its verdict, so all are read
    before the page begins. For each verdict, the memory holds details of at most one page's size.
    """
    from harness.files.regular_file import write_atomically
    from harness.report.html.html_page import ORDER, PAGE_MAX_BYTES, PagePart, page

    parts: list[PagePart] = []
    sizes: Counter[VerdictWord] = Counter()
    for part in map(_read, histories):
        sizes[part.run.word] += len(part.details)
        is_kept = sizes[part.run.word] <= PAGE_MAX_BYTES
        parts.append(part if is_kept else PagePart(part.run))
    parts.sort(key=lambda part: ORDER.index(part.run.word))
    write_atomically(file, page(f"The runs of {named}", parts), durable=False)
    tell_page(file, Path())


def _read(path: Path) -> PagePart:
    """Read a run from its file; for an unreadable file return an unknown run with the reason."""
    from harness.report.html.html_page import page_part
    from harness.runner.run_folder import read_history
    from harness.verdicts.result import of_history

    history: History | None = None
    try:
        history = read_history(path)
        found = verdict_of(path, history)
    except InputError as error:
        found = Verdict("unknown", doubts=(f"cannot be read: {error}",))
    return page_part(of_history(history, found, str(path)), history)
