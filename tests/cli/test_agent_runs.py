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


HELPER = """
from openai import OpenAI

def ask(text):
    said = [{"role": "user", "content": text}]
    made = OpenAI(max_retries=0).chat.completions.create(model="gpt-5", messages=said)
    return made.choices[0].message.content
"""
FUNCTION = """
import a_helper_of_its_own

def answer(text: str) -> str:
    return a_helper_of_its_own.ask(text)
"""


@pytest.mark.real
def test_a_text_function_is_greeted_to_find_its_wire(
    in_process: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hello.yaml").write_text("name: hello\ninbox: Hello\nscript: [{say: Hi.}]\n")
    (tmp_path / "a_helper_of_its_own.py").write_text(HELPER)
    (tmp_path / "a_text_function.py").write_text(FUNCTION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    done = in_process("run", "hello.yaml", "--json", "--target", "a_text_function:answer")
    [line] = [json.loads(line) for line in done.out.splitlines()]
    assert (line["name"], line["verdict"]) == ("hello@openai-chat", "pass")


def test_a_run_that_refused_before_it_asked_says_so(
    in_process: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hello.yaml").write_text("name: hello\ninbox: Hello\nscript: [{say: Hi.}]\n")
    (tmp_path / "an_agent_that_refuses.py").write_text(
        "def agent(brief):\n    for message in brief.inbox():\n"
        "        brief.send('no tool may be called a b', kind='error')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    done = in_process("run", "hello.yaml", "--target", "an_agent_that_refuses:agent")
    text = " ".join(done.out.split())
    assert "ended the turn with an error before it asked the model" in text
    assert "'no tool may be called a b'" in text
