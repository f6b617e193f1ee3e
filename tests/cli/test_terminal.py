"""What a terminal gets, and what a pipe gets."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.cli import terminal
from tests.cli.conftest import command, environment

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def on_a_terminal(folder: Path, *words: str, rows: Path | None = None, **settings: str) -> str:
    """What a terminal shows of the standard output of a command; of its standard error where
    `rows` takes the output. The terminal is read all the while: it holds 4 KB."""
    ours, theirs = pty.openpty()
    with (rows or Path(os.devnull)).open("wb") as file, subprocess.Popen(
        command(*words), cwd=folder, env={**environment(), "TERM": "xterm", **settings},
        stdin=subprocess.DEVNULL,
        stdout=file if rows else theirs, stderr=theirs if rows else file,
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
    assert not ESCAPE.search(
        on_a_terminal(folder, "run", "--target", "agents:silent", rows=None, **settings)
    )


def test_progress_goes_to_standard_error(folder: Path) -> None:
    rows = folder / "rows.jsonl"
    words = ("run", "--json", "--target", "agents:silent")
    assert "runs" in ESCAPE.sub("", on_a_terminal(folder, *words, rows=rows))
    lines = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
    assert [line["name"] for line in lines] == ["greeting", "greeting/polite"]


def test_both_ways_out_write_control_characters_out(capsys: pytest.CaptureFixture[str]) -> None:
    for say in (terminal.out, terminal.note):
        say("a\x1b[2J\u202eb\nc")
    said = capsys.readouterr()
    assert said.out == said.err == "a\\u001b[2J\\u202eb\nc\n"


SPEAKS = """
def agent(brief):
    raise RuntimeError("half \\ud800, whole \\U0001f600, \\u00e9 \\u2192 {key}")
"""
KEY = "sk-ant-api03-" + "Zq7Lm2Xc9Vb4Np6Rt8Yw3Ks5Hd1Gf0Ja" * 3
RUN = ("run", "scenarios/greeting.yaml", "--target", "speaks:agent")


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONIOENCODING": "ascii"},
        pytest.param(
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, marks=pytest.mark.real
        ),
        pytest.param({"PYTHONIOENCODING": "latin-1"}, marks=pytest.mark.real),
        pytest.param({"PYTHONIOENCODING": "cp1252:strict"}, marks=pytest.mark.real),
        pytest.param({}, marks=pytest.mark.real),
    ],
)
def test_every_terminal_can_say_what_an_agent_says(folder: Path, settings: dict[str, str]) -> None:
    (folder / "speaks.py").write_text(SPEAKS.replace("{key}", KEY))

    def said(*words: str) -> bytes:
        made = {**environment(), **settings}
        ended = subprocess.run(command(*RUN, *words), cwd=folder, env=made, capture_output=True)
        assert (ended.returncode, ended.stderr) == (1, b"")
        assert b"Zq7" not in ended.stdout
        return ended.stdout

    text = said()
    assert b"half" in text
    assert b"\\x" not in text  # JSON has no such escape
    [row] = {json.loads(line)["name"]: line for line in said("--json").splitlines()[:1]}.values()
    [crash] = [f for f in json.loads(row)["findings"] if f["code"] == "target.crashed"]
    assert "half \\ud800, whole \U0001f600, \u00e9 \u2192 [REDACTED]" in crash["message"]
    assert "whole \U0001f600" in ElementTree.tostring(
        ElementTree.fromstring(said("--junit", "-")), "unicode"
    )
