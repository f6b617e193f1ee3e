"""`harness serve` with real clients over loopback: the inbox's end, Ctrl-C, what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.cli.conftest import Harness, command, environment
from tests.runner.programs import GREET, PRELUDE

TWO = """\
name: two
inbox: [{id: m1, text: one}, {id: m2, text: two}]
script: [{say: First.}, {say: Second.}]
"""


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """The command, and the environment that it prints for an agent."""
    with subprocess.Popen(
        command("serve", *words, "--json"), cwd=folder, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        try:
            assert running.stdout is not None
            first = running.stdout.readline()
            assert first, running.stderr and running.stderr.read()
            yield running, json.loads(first)["environment"]
        finally:
            running.kill()


def verdict(running: subprocess.Popen[str]) -> dict[str, Any]:
    """What the command says at its end, its exit status too."""
    said, _ = running.communicate(timeout=60)
    row = json.loads(said.splitlines()[-1])
    assert isinstance(row, dict)
    return {**row, "exit": running.returncode}


def codes(row: dict[str, Any]) -> set[str]:
    """The codes of the findings."""
    return {finding["code"] for finding in row["findings"]}


def test_an_agent_started_by_hand_ends_the_run_with_the_inbox(folder: Path) -> None:
    (folder / "agent.py").write_text(PRELUDE + GREET)
    with serving(folder, "scenarios/greeting.yaml") as (running, names):
        agent = subprocess.run(
            [sys.executable, "agent.py"], cwd=folder, env={**environment(), **names},
            check=False, timeout=60,
        )  # fmt: skip
        row = verdict(running)
    assert agent.returncode == 0, "the agent hears that the inbox has ended"
    assert (row["name"], row["target"]) == ("greeting", "started by hand")
    assert (row["verdict"], row["findings"]) == ("pass", [])
    assert row["exit"] == 0
    assert (folder / row["history"]).is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_and_it_is_judged(folder: Path, number: signal.Signals) -> None:
    with serving(folder, "scenarios/greeting.yaml", "--only", "greeting") as (running, names):
        inbound = httpx2.get(names["HARNESS_INBOX_URL"], trust_env=False).json()
        body = {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": inbound["text"]}],
        }
        url = f"{names['ANTHROPIC_BASE_URL']}/v1/messages"
        answer = httpx2.post(url, json=body, headers={"x-api-key": "k"}, trust_env=False).json()
        assert answer["content"][0]["text"] == "Good morning."
        os.kill(running.pid, number)
        row = verdict(running)
    assert (row["verdict"], row["exit"]) == ("fail", 1)
    assert "run.nothing_intercepted" not in codes(row)
    assert codes(row), "the message was never answered"


def test_nobody_came(folder: Path) -> None:
    with serving(folder, "scenarios/greeting.yaml") as (running, _):
        os.kill(running.pid, signal.SIGINT)
        row = verdict(running)
    assert {"run.nothing_intercepted", "run.undelivered"} <= codes(row)
    assert row["exit"] == 1


def test_an_agent_that_goes_on_at_a_limit_ends_the_run(folder: Path) -> None:
    (folder / "two.yaml").write_text(TWO + "limits: {model_calls: 2}\n")
    with serving(folder, "two.yaml") as (running, names):
        url = f"{names['ANTHROPIC_BASE_URL']}/v1/messages"
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
        with pytest.raises(httpx2.TransportError):
            _ask_for_ever(url, body)
        row = verdict(running)
    assert any(code.startswith("limits") or "limit" in code for code in codes(row)), codes(row)
    assert row["exit"] == 1


def _ask_for_ever(url: str, body: dict[str, Any]) -> None:
    for _ in range(100):
        httpx2.post(url, json=body, headers={"x-api-key": "k"}, trust_env=False)


def test_the_text_says_what_to_export(folder: Path) -> None:
    with subprocess.Popen(
        command("serve", "scenarios/greeting.yaml"), cwd=folder, env=environment(),
        stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        last = "The run ends after the last message, or on Ctrl-C.\n"
        lines = list(takewhile(lambda line: line != last, running.stdout))
        os.kill(running.pid, signal.SIGINT)
        rest = running.stdout.read()
        assert running.wait(60) == 1
    assert lines[0] == "greeting (1 more in the file: --only): start the agent with\n"
    assert any(line.startswith("  export ANTHROPIC_BASE_URL=http://127.0.0.1:") for line in lines)
    assert "run.nothing_intercepted" in rest


def test_what_cannot_be_served_is_one_line(folder: Path, harness: Harness) -> None:
    (folder / "kill.yaml").write_text(TWO + "faults: [{kind: gateway.killed, on: model}]\n")
    for words, said in (
        (["gone.yaml"], "gone.yaml"),
        (["scenarios/greeting.yaml", "--only", "greting"], "no run of this name"),
        (["scenarios/greeting.yaml", "--port", "99999"], "99999"),
        (["kill.yaml"], "kill"),
    ):
        done = harness("serve", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert said in done.stderr


def test_a_port_that_is_taken_is_said(folder: Path, harness: Harness) -> None:
    with serving(folder, "scenarios/greeting.yaml") as (_, names):
        port = str(urlsplit(names["ANTHROPIC_BASE_URL"]).port)
        done = harness("serve", "scenarios/greeting.yaml", "--port", port)
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
