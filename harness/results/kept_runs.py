"""Runs that were kept on disk: the history of each, and the verdict beside it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.checks.judge import judge
from harness.core.history.history import History, decode
from harness.core.values.errors import InputError
from harness.core.values.verdict import Verdict
from harness.files.regular_file import whole
from harness.results.result import Result

HISTORY, VERDICT = "history.jsonl", "verdict.json"


def read_history(path: Path) -> History:
    """Read a history from its file. Raises InputError for a file that holds none."""
    data = whole(path)
    try:
        history = decode(data)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        place, _, what = str(error).partition(": ")
        raise InputError(what, f"{path}:{place.removeprefix('line ')}") from None
    if not history.events:
        raise InputError("no history: the file is empty", str(path))
    return history


def kept_verdict(path: Path, history: History) -> Verdict:
    """Return the stored verdict beside a history, or else a new one."""
    file = path.with_name(VERDICT)
    if not file.is_file():
        return judge(history)
    try:
        return msgspec.json.decode(whole(file), type=Verdict)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no verdict: {error}", str(file)) from None


def kept_history(run: Result) -> History | None:
    """Return the history of a run that was kept; None without one."""
    try:
        return read_history(Path(run.history)) if run.history else None
    except InputError:  # it was removed in the meantime
        return None
