"""A folder to work in: scenarios, agents, and the command line, as a process or in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cli import main
from harness.parts.loading import loaded, set_loaded
from tests.cli.talks import CHAT, LOOP, Command, Done
from tests.cli.url_agents import URL_AGENTS
from tests.cli.warm_start import WarmStart, is_cold

Harness = Callable[..., "subprocess.CompletedProcess[str]"]

SCENARIO = """\
name: greeting
title: A greeting is answered
inbox: Hello
script:
  - {say: Good morning.}
variants:
  polite: {script: [{say: "Good morning, dear."}]}
"""

CHATS = """\
def agent(brief):
    for message in brief.inbox():
        asked = [{"role": "user", "content": message.text}]
        answer = brief.openai().chat.completions.create(model="m", messages=asked)
        brief.send(answer.choices[0].message.content, in_reply_to=message.id)
"""

AGENTS = '''\
"""Agents for the tests of the command line; the good one speaks the wire without any SDK."""

import json
import os
import sys

from harness import Message, Text


def ask(brief, messages):
    import httpx2

    body = {"model": "m", "max_tokens": 9, "messages": messages}
    with httpx2.Client(transport=brief.transport) as client:
        url = "https://api.anthropic.com/v1/messages"
        answer = client.post(url, json=body, headers={"x-api-key": "k"})
    return answer.json()


def good(brief):
    for inbound in brief.inbox():
        brief.store.accept(inbound, Message("user", (Text(inbound.text),)))
        said = ask(brief, [{"role": "user", "content": inbound.text}])
        text = "".join(block["text"] for block in said["content"])
        brief.store.reply(inbound, Message("assistant", (Text(text),)), "completed", "final")
        print("the agent prints")
        brief.send(text)


def wrong(brief):
    for inbound in brief.inbox():
        two = [{"role": "user", "content": inbound.text}, {"role": "user", "content": ""}]
        ask(brief, two)
        brief.send("done")


def crashing(brief):
    raise ValueError("the agent's own mistake")


def silent(brief):
    for inbound in brief.inbox():
        brief.send("I asked nobody.")


def dying(brief):
    os._exit(7)


def hanging(brief):
    print("ready", file=sys.stderr, flush=True)
    while True:
        pass
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with scenarios/greeting.yaml and agents.py."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios/greeting.yaml").write_text(SCENARIO, "utf-8")
    (tmp_path / "agents.py").write_text(AGENTS, "utf-8")
    return tmp_path


def environment() -> dict[str, str]:
    """The environment of a bare terminal."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR", "LANG")}
    return {**kept, "COLUMNS": "100"}


def command(*words: str) -> list[str]:
    """The words that start the command line in this interpreter."""
    return [sys.executable, "-m", "harness", *words]


@pytest.fixture(scope="session")
def warm_start() -> Iterator[WarmStart]:
    """A process from which the command line is forked."""
    with WarmStart(environment()) as started:
        yield started


@pytest.fixture
def harness(folder: Path, warm_start: WarmStart) -> Harness:
    """Run the command line in `folder`."""

    def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        env = {**environment(), **settings}
        if not is_cold(settings):
            return warm_start.run(words, folder, env, timeout_s=120)
        return subprocess.run(
            command(*words), cwd=folder, env=env,
            capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run


@pytest.fixture
def talks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder to work in, the current one, with a talk and a loop."""
    (folder / "scenarios/chat.yaml").write_text(CHAT, "utf-8")
    (folder / "scenarios/loop.yaml").write_text(LOOP, "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return folder


@pytest.fixture
def empty(talks: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    made = talks / "empty"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def in_process(talks: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """The command line, in this process; what its commands load is not loaded afterwards."""
    before, modules = loaded(), {*sys.modules}

    def run(*words: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(words)
        said = capsys.readouterr()
        return Done(ended.value.code, said.out, said.err)

    yield run
    for plugin in {*loaded()} - {*before}:
        if plugin.module.__name__ not in modules:
            sys.modules.pop(plugin.module.__name__, None)
    set_loaded(before)


@pytest.fixture
def url_agents(folder: Path) -> Path:
    """The folder with agents that call a model by its URL."""
    (folder / "agents.py").write_text(URL_AGENTS, "utf-8")
    return folder
