"""The folder of a run: its history, written before it is judged, and its verdict.

Both are read here too. Files are written under another name and moved into place, so no file is
partial. Secrets are removed.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness import providers
from harness.cassettes.folder_redaction import redact_folder
from harness.core.history.event_log import BadLine
from harness.core.history.history import History, decode
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.core.values.verdict import Verdict
from harness.files.owner import KEPT_PREFIX
from harness.files.regular_file import stored, whole, write_atomically
from harness.redaction.encoder import encoded, event_line, json_document, reported

HISTORY, VERDICT = "history.jsonl", "verdict.json"

SESSION = "session"
"""The folder, in a run's folder, of a kept session."""

OUTPUT = "output.txt"
"""The file, in a run's folder, with what the target printed."""

BASELINE = "baseline"
"""The folder name of a scenario's own run, which is not a variant."""


def folder_for(out: Path, scenario: Scenario) -> Path:
    """Return OUT/NAME/VARIANT@WIRE+stream, with `baseline` for the scenario itself."""
    wire = f"@{scenario.wire}" if scenario.wire != providers.DEFAULT else ""
    stream = "+stream" if scenario.stream else ""
    return out / scenario.name / f"{scenario.variant or BASELINE}{wire}{stream}"


def run_of(folder: Path) -> str:
    """Return the name of the run of a folder: the reverse of `folder_for`."""
    label = folder.name
    is_first = label == BASELINE or label.startswith((f"{BASELINE}@", f"{BASELINE}+"))
    return f"{folder.parent.name}{label[len(BASELINE) :] if is_first else f'/{label}'}"


def write_history(folder: Path, history: History) -> Path:
    """Write `history.jsonl`, whole."""
    return _write(folder / HISTORY, history_lines(history))


def history_lines(history: History) -> Iterator[bytes]:
    """Yield the lines of a history file."""
    return map(event_line, history.events)


def write_output(folder: Path, output: str) -> None:
    """Write `output.txt`: what the target printed, without secrets as `Run.output` has it.

    Without any, remove that of an earlier run.
    """
    if output:
        _write(folder / OUTPUT, [encoded(output)])
    else:
        (folder / OUTPUT).unlink(missing_ok=True)


def write_unplayed(folder: Path, verdict: Verdict) -> None:
    """Write `verdict.json` of a run that is not applicable; remove the files of an earlier run."""
    drop_session(folder)
    (folder / HISTORY).unlink(missing_ok=True)
    write_output(folder, "")
    write_verdict(folder, verdict)


def write_verdict(folder: Path, verdict: Verdict) -> Path:
    """Write `verdict.json`, whole."""
    return _write(folder / VERDICT, [verdict_text(verdict)])


def read_history(path: Path) -> History:
    """Read a history from its file. Raises InputError for a file that holds none."""
    try:
        history = decode(whole(path))
    except BadLine as error:
        raise InputError(error.what, f"{path}:{error.number}") from None
    if not history.events:
        raise InputError("no history: the file is empty", str(path))
    return history


def read_verdict(history: Path) -> Verdict | None:
    """Read the stored verdict beside a history; None without one. Raises InputError for a file that
    holds none."""
    file = history.with_name(VERDICT)
    return stored(file, Verdict, "verdict") if file.is_file() else None


def verdict_text(verdict: Verdict) -> bytes:
    """Return the content of a verdict file."""
    return json_document(reported(verdict))


def keep_session(session: Path, folder: Path | None) -> Path:
    """Move the session folder of a run, without secrets, to `session` in the run's folder.

    Without a run's folder it is moved to a temporary folder that stays."""
    kept = (folder or Path(tempfile.mkdtemp(prefix=KEPT_PREFIX))) / SESSION
    kept.parent.mkdir(parents=True, exist_ok=True)
    redact_folder(session)
    _drop_special(session)
    return Path(shutil.move(session, kept))


def _drop_special(folder: Path) -> None:
    """Remove sockets and pipes: a move to another file system copies, and cannot copy these."""
    for found in folder.rglob("*"):
        mode = found.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            found.unlink()


def move_kept(session: Path, place: Path) -> None:
    """Move a session from its temporary folder to its place; it replaces an earlier one."""
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(session, place)
    drop_kept(session)


def drop_kept(session: Path) -> None:
    """Remove a session that was kept in a temporary folder, and that folder."""
    shutil.rmtree(session.parent, ignore_errors=True)


def drop_session(folder: Path) -> None:
    """Remove the session of an earlier run from this folder."""
    shutil.rmtree(folder / SESSION, ignore_errors=True)


def _write(path: Path, parts: Iterable[bytes]) -> Path:
    write_atomically(path, parts, durable=False)
    return path
