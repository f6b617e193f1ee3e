"""What a terminal gets, and what a pipe gets."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import command, environment

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def on_a_terminal(folder: Path, *words: str, **settings: str) -> str:
    """What a terminal shows of a run of the command line."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*words), cwd=folder, env={**environment(), "TERM": "xterm", **settings},
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL,
    ):  # fmt: skip
        os.close(theirs)
        shown = b""
        while piece := _read(ours):
            shown += piece
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    """What has come; nothing once the other end is closed, which Linux calls an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_a_terminal_gets_colour_and_a_pipe_the_same_text(folder: Path) -> None:
    words = ("run", "--target", "agents:wrong")
    coloured = on_a_terminal(folder, *words)
    piped = subprocess.run(
        command(*words), cwd=folder, env=environment(), capture_output=True, text=True, check=False
    ).stdout
    assert ESCAPE.search(coloured)
    assert not ESCAPE.search(piped)
    assert ESCAPE.sub("", coloured) == piped


@pytest.mark.parametrize("settings", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_can_be_switched_off(folder: Path, settings: dict[str, str]) -> None:
    assert not ESCAPE.search(on_a_terminal(folder, "run", "--target", "agents:silent", **settings))


def test_progress_goes_to_standard_error(folder: Path) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        command("run", "--json", "--target", "agents:silent"), cwd=folder,
        env={**environment(), "TERM": "xterm"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=theirs, text=True, check=False,
    )  # fmt: skip
    os.close(theirs)
    assert "runs" in ESCAPE.sub("", _read(ours).decode())
    os.close(ours)
    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == [
        "greeting",
        "greeting/polite",
    ]
