"""A run does not meet what earlier runs left in modules, so its neighbours change no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Harness

AGENTS = '''
"""An agent that answers each message id once in its process, and keeps what it has said."""

from agents import ask

SEEN, TABLE = set(), {}


def remembers(brief):
    for inbound in brief.inbox():
        if inbound.id in SEEN:
            continue
        SEEN.add(inbound.id)
        said = ask(brief, [{"role": "user", "content": inbound.text}])
        brief.send(TABLE.setdefault(inbound.id, said["content"][0]["text"]))
'''
MANY = """\
name: many
inbox: Hello
script:
  - {say: Good morning.}
variants:
"""


@pytest.fixture(autouse=True)
def keeps(folder: Path) -> Path:
    (folder / "keeps.py").write_text(AGENTS, "utf-8")
    rows = [f'  v{n}: {{script: [{{say: "Good morning, {n}."}}]}}\n' for n in range(6)]
    (folder / "scenarios/many.yaml").write_text(MANY + "".join(rows), "utf-8")
    return folder


def _verdicts(harness: Harness, *words: str) -> dict[str, str]:
    done = harness("run", "--json", "--target", "keeps:remembers", *words)
    rows = map(json.loads, done.stdout.splitlines())
    return {row["name"]: row["verdict"] for row in rows if "verdict" in row}


def test_a_run_is_judged_alike_alone_and_among_seven(harness: Harness) -> None:
    among = _verdicts(harness, "scenarios/many.yaml", "-j", "1")
    assert len(among) == 7
    assert set(among.values()) == {"pass"}
    assert _verdicts(harness, "scenarios/many.yaml", "--only", "many/v5") == {"many/v5": "pass"}


@pytest.mark.real
def test_a_run_is_judged_alike_among_many(harness: Harness, keeps: Path) -> None:
    rows = [f'  v{n}: {{script: [{{say: "Good morning, {n}."}}]}}\n' for n in range(169)]
    (keeps / "scenarios/many.yaml").write_text(MANY + "".join(rows), "utf-8")
    among = _verdicts(harness, "scenarios/many.yaml", "-j", "2")
    assert (len(among), set(among.values())) == (170, {"pass"})


@pytest.mark.real
@pytest.mark.nightly
def test_a_kill_is_judged_alike_alone_and_among_all_of_its_folder(harness: Harness) -> None:
    alone = _verdicts(harness, "@resume/killed-again", "--wire", "anthropic", "-j", "1")
    among = _verdicts(harness, "@resume", "--wire", "anthropic", "-j", "1")
    assert len(alone) == 4 < len(among)
    assert {name: among[name] for name in alone} == alone


HOST = """
import sys

from agents import ask

HOST = "https://api.anthropic.com"


def tells(brief):
    for inbound in brief.inbox():
        said = ask(brief, [{"role": "user", "content": inbound.text}])
        brief.send("anthropic" if "anthropic" in sys.modules else said["content"][0]["text"])
"""


def test_the_name_of_a_host_imports_no_sdk(harness: Harness, keeps: Path) -> None:
    # The import costs 0.9 s of processor time, which every short command would wait for.
    (keeps / "hosts.py").write_text(HOST, "utf-8")
    done = harness("run", "--target", "hosts:tells", "--only", "greeting")
    assert "1 passed" in done.stdout, done.stdout
