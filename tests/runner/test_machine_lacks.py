"""What the machine lacks is never told as the agent's: such a run is unknown, with what to do."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.runner import Run, run
from harness.transports import http_server
from tests.limited_machine import file_size_most, fill, open_files_left, small_disk
from tests.runner import agents, programs
from tests.runner.programs import program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full, /proc and tmpfs")

HELLO = Scenario(
    name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello to you."),)
)
FORKED = [False, pytest.param(True, marks=pytest.mark.real)]


def lacks(played: Run, words: str) -> None:
    assert played.verdict.verdict == "unknown", played.verdict
    assert played.verdict.findings == ()
    (doubt,) = played.verdict.doubts
    assert doubt.startswith(f"this machine: {words}; "), doubt


def writes_without_room(brief: Any) -> None:
    agents.ask(brief.anthropic(), "hello")
    with open("/dev/full", "wb", buffering=0) as full:
        full.write(b"x")


def gives_another_reason(brief: Any) -> None:
    try:
        writes_without_room(brief)
    except OSError:
        raise RuntimeError("the note was not kept") from None


def opens_without_end(brief: Any) -> None:
    agents.ask(brief.anthropic(), "hello")
    held = []
    while True:
        held.append(open(os.devnull))  # noqa: SIM115


def lowers_its_limit(brief: Any) -> None:
    agents.ask(brief.anthropic(), "hello")
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    os.open(os.devnull, os.O_RDONLY)


@pytest.mark.parametrize("isolate", FORKED)
@pytest.mark.parametrize("agent", [writes_without_room, gives_another_reason])
def test_an_agent_that_ends_of_a_full_disk(agent: Callable[[Any], None], isolate: bool) -> None:
    lacks(run(HELLO, agent, isolate=isolate), "no space is left on the disk")


@pytest.mark.parametrize("isolate", FORKED)
def test_no_file_left_to_open(isolate: bool) -> None:
    with open_files_left(40):
        lacks(run(HELLO, opens_without_end, isolate=isolate), "no more files can be opened")


def test_a_limit_that_the_agent_has_lowered_is_its_own() -> None:
    played = run(HELLO, lowers_its_limit)
    assert played.verdict.findings[0].code == "target.crashed"


def test_a_fault_of_the_store_is_the_scenarios() -> None:
    def keeps(brief: Any) -> None:
        for message in brief.inbox():
            brief.store.append("main", [])
            agents.ask(brief.anthropic(), message.text)
            writes_without_room(brief)

    faulty = msgspec.structs.replace(HELLO, faults=(FaultSpec(kind="persistence.disk_full"),))
    played = run(faulty, keeps, options={"store": "jsonl"})
    assert "target.crashed" in [finding.code for finding in played.verdict.findings]


@pytest.mark.parametrize("left", range(0, 14, 2))
@pytest.mark.real
def test_a_program_with_few_files_left_for_the_harness(tmp_path: Path, left: int) -> None:
    target = program(tmp_path, programs.GREET)
    run(HELLO, target)  # what is opened once and stays, is open now
    with open_files_left(left):
        played = run(HELLO, target)
    assert played.verdict.verdict in ("pass", "unknown")
    if played.verdict.verdict == "unknown":
        lacks(played, "no more files can be opened")


def test_no_address_of_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HOST", "192.0.2.1")  # of no machine: RFC 5737
    lacks(run(HELLO, agents.greet, world="supervise"), "127.0.0.1 cannot be used")


@pytest.mark.real
def test_a_session_folder_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program answers with a final that says so: the disk is asked, and not its words."""
    with small_disk(tmp_path / "disk") as disk:
        monkeypatch.setattr("tempfile.tempdir", str(disk))
        fills = "import pathlib\nfrom tests.limited_machine import fill\n"
        fills += f"fill(pathlib.Path({str(disk)!r})); sys.exit(3)"
        body = f"sys.path.insert(0, {os.getcwd()!r})\nask('hello')\n{fills}"
        lacks(run(HELLO, program(tmp_path, body)), "no space is left on the disk")


def test_the_folder_of_the_results_has_no_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        fill(disk)
        lacks(run(HELLO, agents.greet, out=disk), "no space is left on the disk")


@pytest.mark.real
def test_a_child_that_cannot_write_its_history() -> None:
    """The agent catches what the harness meets there, and its history would have a gap."""

    def goes_on(brief: Any) -> None:
        for message in brief.inbox():
            try:
                agents.ask(brief.anthropic(), message.text * 1000)
            except Exception:
                brief.send("sorry", kind="error")

    with file_size_most(4096):
        lacks(run(HELLO, goes_on, isolate=True), "a file may not grow further")
