"""Runs that need what an agent lacks: not red, not green, and counted; a bad agent stays red."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.talks import Command

SCENARIOS = {
    "greets": 'stream: both\ninbox: Hello\nscript: [{say: "Good morning."}]\n',
    "streams": 'stream: true\ninbox: Hello\nscript: [{say: "Good morning."}]\n',
    "remembers": (
        "session: {messages: [{role: user, content: I am Ada.}, {role: assistant, content: Hi.}]}\n"
        'inbox: Who am I?\nscript: [{say: "Ada."}]\n'
    ),
    "remembers-more": (
        "session: {messages: [{role: user, content: I am Bob.}, {role: assistant, content: Ho.}]}\n"
        'inbox: Not this time.\nscript: [{say: "Bob."}]\n'
    ),
    "full-disk": (
        'inbox: Hello\nscript: [{say: "Good morning."}]\nfaults: [{kind: persistence.disk_full}]\n'
    ),
    "sums-up": (
        'inbox: Hello\nscript: [{say: "Good morning."}, {say: "All in all.", for: compact}]\n'
    ),
}

AGENTS = '''
import json

import httpx2

URL = "https://api.anthropic.com/v1/messages"


def _talk(brief, blank="", asks=lambda inbound: ""):
    client = httpx2.Client(transport=brief.transport)
    for inbound in brief.inbox():
        said = asks(inbound) + (inbound.text if not blank else blank)
        request = {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": said}]}
        if blank:
            request["messages"].append({"role": "user", "content": ""})
        answer = client.post(URL, json=request, headers={"x-api-key": "k"})
        if answer.is_error:
            brief.send(answer.text, kind="error")
        else:
            brief.send(answer.json()["content"][0]["text"])


def bare(brief):
    _talk(brief)


def careless(brief):
    """Show the seeded session in one scenario, and send what no wire takes in all."""
    def seeded(inbound):
        if inbound.text != "Who am I?":
            return ""
        lines = (brief.session_dir / "seed.jsonl").read_text().splitlines()
        return "".join(b["text"] for line in lines for b in json.loads(line)["blocks"])

    _talk(brief, blank="?", asks=seeded)


def dead(brief):
    raise ValueError("dead")
'''


@pytest.fixture
def lacking(talks: Path) -> Path:
    (talks / "lacking_agents.py").write_text(AGENTS)
    (talks / "lacking").mkdir()
    for name, text in SCENARIOS.items():
        (talks / "lacking" / f"{name}.yaml").write_text(f"name: {name}\n{text}")
    return talks


def rows(out: str) -> tuple[dict[str, str], Any]:
    """The verdicts by run, and the last object."""
    lines = [json.loads(line) for line in out.splitlines()]
    verdicts = {line["name"]: line["verdict"] for line in lines if "name" in line}
    return verdicts, lines[-1]


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.real)])
def test_what_an_agent_lacks_is_not_applicable(
    jobs: str, in_process: Command, lacking: Path
) -> None:
    target = ("--target", "lacking_agents:bare", "-j", jobs)
    done = in_process("run", "lacking", *target, "--json")
    verdicts, last = rows(done.out)
    assert done.status == 0
    assert verdicts == {
        "greets": "pass",
        "full-disk": "not_applicable",
        "streams+stream": "not_applicable",
        "remembers": "not_applicable",
        "remembers-more": "not_applicable",
        "sums-up": "not_applicable",
    }
    counts = {lack["missing"]: lack["runs"] for lack in last["not_applicable"]}
    assert counts == {"session": 2, "store": 1, "streaming": 1, "compaction": 1}
    kept = lacking / ".harness/runs/remembers/baseline/verdict.json"
    assert json.loads(kept.read_text())["verdict"] == "not_applicable"
    said = in_process("run", "lacking", *target).out
    assert "2 runs not applicable: needs session: no run of this command showed a seeded" in said
    assert "connect it or declare it: docs/profiles.md#capabilities" in " ".join(said.split())
    assert "6 runs: 1 passed, 5 not applicable" in said


@pytest.mark.real
def test_what_was_used_once_is_owed_everywhere(in_process: Command, lacking: Path) -> None:
    target = ("--target", "lacking_agents:careless", "--json")
    both = ("lacking/remembers.yaml", "lacking/remembers-more.yaml")
    verdicts, last = rows(in_process("run", *both, *target).out)
    assert verdicts == {"remembers": "fail", "remembers-more": "fail"}
    assert "not_applicable" in last  # of its run, which is a list of checks
    assert "name" in last
    verdicts, _ = rows(in_process("run", *both[1:], *target).out)
    assert verdicts == {"remembers-more": "not_applicable"}


def test_what_the_profile_declares(in_process: Command, lacking: Path) -> None:
    owed = lacking / "owed.yaml"
    owed.write_text("capabilities: {session: true, store: false}\nstream: never\n")
    words = ("--target", "lacking_agents:careless", "--profile", "owed.yaml", "--json")
    verdicts, last = rows(in_process("run", "lacking", *words).out)
    assert verdicts["remembers"] == verdicts["remembers-more"] == "fail"
    reasons = {lack["missing"]: lack["reason"] for lack in last["not_applicable"]}
    assert reasons["store"] == "needs store, which the profile declares absent"
    assert reasons["streaming"] == "needs streaming, which the profile declares absent"
    kept = {p.name for p in (lacking / ".harness/runs/full-disk").rglob("*") if p.is_file()}
    assert kept == {"verdict.json"}, "no run was played"


def test_a_dead_agent_is_red_everywhere(in_process: Command, lacking: Path) -> None:
    done = in_process("run", "lacking", "--target", "lacking_agents:dead", "--json")
    verdicts, _ = rows(done.out)
    assert done.status == 1
    assert set(verdicts.values()) == {"fail"}


def test_needs_are_listed(in_process: Command, lacking: Path) -> None:
    listed = in_process("list", "scenarios", "lacking", "--json").out.splitlines()
    needs = {row["name"]: row["needs"] for row in map(json.loads, listed)}
    assert needs["remembers"] == ["session"]
    assert needs["greets+stream"] == ["streaming"]
    assert needs["greets"] == []
    dry = in_process("run", "lacking", "--dry-run", "--target", "lacking_agents:bare").out
    assert "full-disk  (needs store)" in dry
    said = in_process("run", "lacking", "--dry-run", "--json").out.splitlines()
    assert {row["name"]: row["needs"] for row in map(json.loads, said)} == needs


def test_a_key_of_needs(in_process: Command, lacking: Path) -> None:
    file = lacking / "lacking" / "greets.yaml"
    file.write_text("name: greets\nneeds: [sub_agents]\ninbox: Hello\nscript: [{say: Hi}]\n")
    listed = in_process("list", "scenarios", str(file)).out
    assert "(1 run, needs sub_agents)" in listed
    file.write_text("name: greets\nneeds: [sub_agent]\ninbox: Hello\nscript: [{say: Hi}]\n")
    done = in_process("list", "scenarios", str(file))
    assert done.status == 2
    assert "greets.yaml:2: key `needs`: 'sub_agent' is not one of sub_agents, " in done.err


TWO_WIRES = 'name: wires\nwire: [anthropic, openai-chat]\ninbox: Hello\nscript: [{say: "Hi."}]\n'


@pytest.mark.real
def test_a_wire_that_the_agent_does_not_speak_is_not_applicable(
    in_process: Command, lacking: Path
) -> None:
    file = lacking / "wires.yaml"
    file.write_text(TWO_WIRES)
    target = ["--target", "lacking_agents:bare"]
    whole = in_process("run", str(file), *target, "--wire", "all")
    assert whole.status == 0
    assert "1 passed, 1 not applicable" in whole.out
    told = " ".join(whole.out.split())
    assert "needs wire openai-chat: no run of this command called the model on it" in told
    alone = in_process("run", str(file), *target, "--wire", "openai-chat")
    assert (alone.status, "run.nothing_intercepted" in alone.out) == (1, True)
    both = in_process("run", str(file), *target, "--wire", "openai-chat", "--wire", "anthropic")
    assert (both.status, "run.nothing_intercepted" in both.out) == (1, True)
