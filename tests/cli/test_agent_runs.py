"""Which runs a program of one API gets: what any API can say, and each once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command

FILES = {
    "plain": "stream: both\nscript: [{say: Good morning.}]",
    "named": "wire: [anthropic, gemini]\nscript: [{say: Good morning.}]",
    "own-fault": "stream: true\nscript: [{say: Hi.}]\nfaults: [{kind: sse.message_start_twice}]",
    "own-dialect": "dialect: strict\nscript: [{say: Good morning.}]",
    "own-block": "script: [{blocks: [{type: server_tool_use, id: s, name: w, input: {}}]}]",
}


@pytest.fixture
def names(in_process: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    (tmp_path / "played").mkdir()
    for name, text in FILES.items():
        file = tmp_path / "played" / f"{name}.yaml"
        file.write_text(f"name: {name}\ninbox: Hello\n{text}\n", "utf-8")
    program = tmp_path / "gemini"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.chdir(tmp_path)
    return in_process


def listed(command: Command, *words: str) -> list[str]:
    """The names of the runs that such a command would play."""
    done = command("run", "played", "--dry-run", "--json", "--target", "gemini-cli", *words)
    return [json.loads(line)["name"] for line in done.out.splitlines()]


def test_what_the_api_of_the_target_can_say_is_played_on_it(names: Command) -> None:
    assert listed(names) == ["named@gemini", "plain@gemini+stream"]


def test_a_run_that_is_named_is_played_as_it_is(names: Command) -> None:
    assert listed(names, "--only", "plain@gemini") == ["plain@gemini"]


def test_a_wire_that_the_command_names_carries_nothing(names: Command) -> None:
    assert listed(names, "--wire", "gemini") == ["named@gemini"]
