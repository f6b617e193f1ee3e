"""`harness show`: prints the timeline of one run, with its stored verdict or else a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.html_report import html
from harness.cli.options import NamedPath, every_verb, named_plugins
from harness.cli.run import DEFAULT_OUT
from harness.core.values.errors import InputError

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.core.values.verdict import Verdict

HISTORY, VERDICT = "history.jsonl", "verdict.json"


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
    from harness.cli.html_report import histories_below, write_folder
    from harness.redaction.encoder import Encoded, event_line
    from harness.report.run_timeline import timeline

    if page is not None:
        write_folder(page, list(histories_below(run)), run)
        return 0
    path = find(run)
    history = read(path)
    if as_json:
        lines = b"".join(map(event_line, history.events)).decode()
        terminal.out(Encoded(lines.rstrip("\n")))
        return 0
    terminal.out(timeline(history, verdict(path, history), terminal.width(), terminal.paint()))
    return 0


def find(run: Path) -> Path:
    """Return the history that RUN names. Raises InputError, which names the runs of a folder."""
    folder = folder_of(run)
    path = folder / HISTORY if folder.is_dir() else folder
    if path.is_file():
        return path
    if not folder.exists():
        what = "no such run: name a folder with history.jsonl, or the file"
        # `folder_of` has changed the path: RUN named a scenario, which has no run yet.
        raise InputError(what if folder is run else _NOT_PLAYED, str(folder))
    below = sorted(str(p.parent) for p in folder.rglob(HISTORY))
    if len(below) == 1:
        return Path(below[0], HISTORY)
    hint = f"name one run of {len(below)}: {below[0]}" if below else "no history.jsonl below it"
    raise InputError(hint, str(folder))


def folder_of(run: Path) -> Path:
    """Return the folder of a scenario's runs; any other path unchanged."""
    return Path(DEFAULT_OUT, _name_in(run)) if run.suffix == ".yaml" else run


def _name_in(scenario: Path) -> str:
    """Return the name of a scenario; of a file that is gone, the file's name."""
    from harness.files.scenario_file import read_source

    try:
        root = read_source(scenario).root
    except InputError:
        root = None
    return str(root.get("name", scenario.stem)) if isinstance(root, dict) else scenario.stem


_NOT_PLAYED = "no run of this scenario here: `harness run` plays it"


def read(path: Path) -> History:
    """Read a history from its file. Raises InputError for a file that holds none."""
    from harness.core.history.event_log import BadLine
    from harness.core.history.history import decode
    from harness.files.regular_file import whole

    data = whole(path)
    try:
        history = decode(data)
    except BadLine as error:
        raise InputError(error.what, f"{path}:{error.number}") from None
    if not history.events:
        raise InputError("no history: the file is empty", str(path))
    return history


def verdict(path: Path, history: History) -> Verdict:
    """Return the stored verdict beside a history, or else a new one."""
    import msgspec

    from harness.checks.judge import judge
    from harness.core.values.verdict import Verdict
    from harness.files.regular_file import whole

    file = path.with_name(VERDICT)
    if not file.is_file():
        return judge(history)
    try:
        return msgspec.json.decode(whole(file), type=Verdict)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no verdict: {error}", str(file)) from None
