"""Plays named runs by `harness run`, within bounds. What takes too long is left out, by its name.

A command is told to end, not killed, so it prints the runs that have their verdict. The next
command plays the rest.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.core.values.verdict import EXIT_STATUS
from harness.runner.run_folder import run_of
from tests.field.results import Line, runs_of

END_S = 60.0
"""How long a command may take that was told to end."""

BEAT_S = 1.0

Run = tuple[str, str]
"""The file of a run, and its name."""


class Bounds(NamedTuple):
    """How long a run may take, and how long all of them."""

    run_s: float
    all_s: float


class Command(NamedTuple):
    """A command that plays runs: the file of its lines, and an empty folder for its histories."""

    process: subprocess.Popen[bytes]
    lines: Path
    histories: Path


class Played(NamedTuple):
    """The lines of the runs, and the reason of each run that was left out."""

    lines: list[Line]
    left_out: dict[str, str]


def play_within(
    bounds: Bounds, runs: Sequence[Run], start: Callable[[Sequence[Run]], Command]
) -> Played:
    """Play the runs; after one that takes too long, start a command for the others.

    Raises OSError when a command fails, and TimeoutExpired when it does not end.
    """
    played, until = Played([], {}), time.monotonic() + bounds.all_s
    while runs:
        command = start(runs)
        late = _wait(command, [name for _, name in runs], bounds.run_s, until)
        lines = _lines(command, {name for _, name in runs} if late is None else None)
        played.lines.extend(lines)
        if late is None:
            break
        runs = _without(runs, {line["name"] for line in runs_of(lines)})
        if time.monotonic() > until:
            reason = f"no time is left of {bounds.all_s / 60:g} minutes"
            played.left_out.update({name: reason for _, name in runs})
            break
        played.left_out[late] = f"it takes more than {bounds.run_s:g} s"
        runs = _without(runs, {late})
    return played


def _wait(command: Command, names: Sequence[str], run_s: float, until: float) -> str | None:
    """Wait for a command, or end it and return the run that takes too long."""
    process, waited_for, since = command.process, "", time.monotonic()
    while True:
        try:
            process.wait(BEAT_S)
            return None
        except subprocess.TimeoutExpired:
            ended, now = _ended(command.histories), time.monotonic()
            late = next((name for name in names if name not in ended), "")
            waited_for, since = late, since if late == waited_for else now
            if late and (now - since > run_s or now > until):
                process.terminate()
                process.wait(END_S)
                return late


def _lines(command: Command, names: set[str] | None) -> list[Line]:
    """The lines of a command that played `names`. One that was told to end, which has None, cannot
    decide what it calls unknown.

    Without a run that is judged, a command exits with 3, as in a failure of the harness. Then it
    has a line for each run. Raises OSError for any other status than 0 and 1.
    """
    lines: list[Line] = [msgspec.json.decode(line) for line in command.lines.open("rb")]
    if names is None:
        return [one for one in runs_of(lines) if one["verdict"] != "unknown"]
    status = command.process.returncode
    is_unjudged = status == EXIT_STATUS["unknown"] and names <= {r["name"] for r in runs_of(lines)}
    if status not in (0, 1) and not is_unjudged:
        raise OSError(f"the command failed with status {status}: see {command.lines.parent}")
    return lines


def _without(runs: Sequence[Run], names: set[str]) -> list[Run]:
    return [run for run in runs if run[1] not in names]


def _ended(histories: Path) -> set[str]:
    """The runs that have their verdict; their lines may come later, and in another order."""
    return {run_of(file.parent) for file in histories.rglob("verdict.json")}
