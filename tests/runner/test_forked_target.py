"""Targets that a fault of a scenario kills: ended for real, started again, one history."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.agent import agent as reference
from harness.core.history.events import Answered, Called, Ended, Killed, Started
from harness.core.history.history import canonical
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, ToolScript, Turn
from harness.core.values.errors import HarnessError, InputError
from harness.runner import Run, forked_target, run
from harness.runner.forked_target import Attempt
from harness.runner.store_watch import OwnStore
from harness.targets import TargetSpec
from tests.documents import ROOT
from tests.runner import agents, programs
from tests.runner.programs import program

HELLO = Scenario(
    name="hello",
    inbox=(InboxItem(text="hello"), InboxItem(text="again")),
    script=(Turn(say="Hello to you."), Turn(say="And again.")),
)


def _killed(scenario: Scenario, **fields: Any) -> Scenario:
    """The scenario with one more fault, which kills."""
    fault = FaultSpec(kind="gateway.killed", **fields)
    return msgspec.structs.replace(scenario, faults=(*scenario.faults, fault))


def _kills(done: Run) -> list[str]:
    return [event.at for event in done.history.events if isinstance(event, Killed)]


def _attempts(done: Run) -> list[int]:
    return [event.attempt for event in done.history.events if isinstance(event, Started)]


def _ended(done: Run) -> list[Ended]:
    return [event for event in done.history.events if isinstance(event, Ended)]


@pytest.mark.parametrize("world", ["simulate", "supervise"])
def test_a_python_target_is_killed_and_starts_again(world: Any) -> None:
    done = run(_killed(HELLO, when=2), reference, world=world)
    assert (done.verdict.verdict, done.verdict.findings) == ("pass", ())
    assert (_kills(done), _attempts(done)) == (["main/model#2"], [0, 1])
    assert [ended.how for ended in _ended(done)] == ["returned"]
    starts = [event for event in done.history.events if isinstance(event, Started)]
    assert {start.world for start in starts} == {world}


def test_what_the_provider_keeps_outlives_the_agent() -> None:
    def goes_on(brief: Any) -> None:
        client, kept = brief.openai(max_retries=0), Path(brief.session_dir) / "last"
        for message in brief.inbox():
            last = {"previous_response_id": kept.read_text()} if kept.exists() else {}
            said = client.responses.create(model="m", input=message.text, **last)
            kept.write_text(said.id)
            brief.send(said.output_text, in_reply_to=message.id)

    scenario = msgspec.structs.replace(HELLO, wire="openai-responses")
    done = run(_killed(scenario, when=2), goes_on)
    assert (done.verdict.findings, _attempts(done)) == ((), [0, 1])


def test_what_the_agent_kept_in_memory_is_gone_and_what_is_in_its_folder_stays() -> None:
    seen: list[str] = []

    def remembers(brief: Any) -> None:
        path = Path(brief.session_dir) / "seen"
        seen.append("x")
        with path.open("a") as file:
            file.write("x")
        for message in brief.inbox():
            agents.ask(brief.anthropic(), message.text)
            brief.send(f"{len(seen)} in memory, {len(path.read_text())} in the folder")

    done = run(_killed(HELLO, when=1), remembers)
    said = [sending.request.text for sending in done.history.trace.sendings]
    assert said == ["1 in memory, 2 in the folder"] * 2
    assert seen == [], "the harness's own process has not run the agent"


def test_nothing_is_left_of_a_process_that_was_killed() -> None:
    pids: set[int] = set()
    done = run(_killed(HELLO, when=1, often=2), _tells_its_process)
    for sending in done.history.trace.sendings:
        pids.add(int(sending.request.text))
    assert _kills(done) == ["main/model#1", "main/model#2"]
    assert len(pids) == 1
    assert os.getpid() not in pids
    with pytest.raises(ProcessLookupError):
        os.kill(pids.pop(), 0)


def _tells_its_process(brief: Any) -> None:
    for message in brief.inbox():
        agents.ask(brief.anthropic(), message.text)
        brief.send(str(os.getpid()))


def _keeps_lines(brief: Any) -> None:
    """Knows its messages by their rows, and goes on where the last row ends."""
    path, block = Path(brief.session_dir) / "session.jsonl", {"type": "text"}
    path.touch()

    def keep(role: str, text: str) -> None:
        with path.open("a") as file:
            file.write(json.dumps({"role": role, "blocks": [block | {"text": text}]}) + "\n")

    for message in brief.inbox():
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        if not rows or rows[-1]["role"] == "assistant":
            keep("user", message.text)
        reply = agents.ask(brief.anthropic(), message.text).content[0].text
        keep("assistant", reply)
        brief.send(reply, in_reply_to=message.id)


def test_a_row_of_before_the_kill_keeps_its_message() -> None:
    done = run(_killed(HELLO, when=1), _keeps_lines, store="jsonl:session.jsonl")
    assert _kills(done) == ["main/model#1"]
    wrong = {f.code for f in done.verdict.findings if "history_faithful" not in f.code}
    assert wrong == set()
    assert "reload_equivalence" in done.verdict.passed


def test_time_goes_on_where_it_was() -> None:
    scenario = _killed(HELLO, when=2)
    slow = FaultSpec(kind="transport.latency", settings={"wait_s": 60.0}, when=1)
    done = run(msgspec.structs.replace(scenario, faults=(slow, *scenario.faults)), reference)
    times = [event.at_ms for event in done.history.events if not isinstance(event, Started)]
    assert times == sorted(times)
    assert times[-1] >= 60_000


def test_how_often_each_fault_has_fired_is_known_after_a_restart() -> None:
    twice = (
        FaultSpec(kind="gateway.killed", when=1),
        FaultSpec(kind="gateway.killed", when=4, on="model"),
        FaultSpec(kind="http.status", when=2, settings={"should_retry": True}),
    )
    done = run(msgspec.structs.replace(HELLO, faults=twice), reference)
    faults = [f for e in done.history.events if isinstance(e, Answered) for f in e.faults]
    assert faults == ["gateway.killed", "http.status", "gateway.killed"]
    assert done.verdict.findings == ()


def test_a_fault_that_kills_and_never_fires_is_a_finding() -> None:
    done = run(_killed(HELLO, when=9), reference)
    assert [f.code for f in done.verdict.findings] == ["run.silent_fault"]
    assert _attempts(done) == [0]


def test_the_same_seed_is_the_same_history() -> None:
    first, second = (run(_killed(HELLO, when=2), reference) for _ in range(2))
    assert first.history.events == second.history.events


def test_both_worlds_tell_the_same() -> None:
    one, other = (run(_killed(HELLO, when=2), reference, world=w) for w in WORLDS)
    assert canonical(one.history) == canonical(other.history)


WORLDS: tuple[Any, Any] = ("simulate", "supervise")


def test_restarts_are_limited() -> None:
    limits = Limits(restarts=1)
    scenario = msgspec.structs.replace(_killed(HELLO, when=1, often="forever"), limits=limits)
    done = run(scenario, reference)
    assert _attempts(done) == [0, 1]
    (ended,) = _ended(done)
    assert (ended.how, ended.text) == ("killed", "killed more often than limits.restarts = 1")
    assert ended.undelivered == ("m1", "m2") or ended.undelivered == ("m2",)


def test_a_cancel_stays_one_after_a_restart() -> None:
    scenario = Scenario(
        name="cancelled",
        tools={"look": ToolScript()},
        inbox=(
            InboxItem(id="m1", text="Look."),
            InboxItem(id="c1", kind="cancel", when={"after": "main/model#1"}),
        ),
        script=(Turn(use="look", optional=True), Turn(say="Here.", optional=True)),
        faults=(FaultSpec(kind="gateway.killed", on="outbox"),),
    )
    done = run(scenario, reference)
    assert _kills(done) == ["main/outbox#1"]
    assert "cancel_honoured" in done.verdict.passed
    assert done.verdict.findings == ()


def test_a_crash_in_a_child_is_data() -> None:
    scenario = _killed(HELLO, when=9, must_fire=False)
    done = run(scenario, agents.crash)
    assert _ended(done)[0].text == "ValueError: the disk is on fire (in crash)"


def test_an_error_of_the_users_files_is_one_here_too() -> None:
    with pytest.raises(InputError, match="there is no store 'sqlight'"):
        run(_killed(HELLO), reference, options={"store": "sqlight"})


def test_a_harness_that_breaks_in_a_child_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Attempt) -> None:
        raise LookupError("of our own")

    monkeypatch.setattr(Attempt, "_run", broken)
    with pytest.raises(HarnessError, match="LookupError: of our own"):
        run(_killed(HELLO), reference)


def _end_the_process(*_: Any, **__: Any) -> None:
    """What a thread or a timer does that a target has left behind."""
    os._exit(3)


def test_a_process_that_ends_after_its_target_has_ended_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = _killed(HELLO, when=9, must_fire=False)
    monkeypatch.setattr(OwnStore, "close", _end_the_process)
    done = run(scenario, reference)
    assert (done.verdict.verdict, done.verdict.findings) == ("pass", ())


def test_a_process_that_ends_between_its_target_and_the_end_is_a_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forked_target, "attempt", _end_the_process)
    done = run(_killed(HELLO, when=9, must_fire=False), reference)
    assert _ended(done)[0].text == "the process ended after the target's end"
    assert "target.crashed" in {finding.code for finding in done.verdict.findings}


def test_a_program_is_killed_by_a_scenario_too(tmp_path: Path) -> None:
    done = run(_killed(HELLO, when=1), program(tmp_path, programs.GREET))
    assert (_kills(done), _attempts(done)) == (["main/model#1"], [0, 1])
    texts = [s.request.text for s in done.history.trace.sendings if s.ends_turn]
    assert texts == ["Hello to you.", "And again."]
    calls = [e.key for e in done.history.events if isinstance(e, Called) and e.seam == "model"]
    assert calls == ["main/model#1", "main/model#2", "main/model#3"]


def test_a_server_is_not_ours_to_kill() -> None:
    server = TargetSpec("http://127.0.0.1:9/run", "http", url="http://127.0.0.1:9/run")
    verdict = run(_killed(HELLO), server).verdict
    assert verdict.verdict == "not_applicable"
    assert "the harness did not start the server" in verdict.not_applicable[0].reason


_INTERRUPTED_FORK = """
import os, signal
from harness.agent import agent
from harness.runner import run
from tests.runner.test_forked_target import HELLO, _killed

children, real = [], os.fork

def interrupted():
    os.kill(os.getpid(), signal.SIGINT)
    children.append(real())
    return children[-1]

os.fork = interrupted
try:
    run(_killed(HELLO, when=2), agent)
except KeyboardInterrupt:
    print("interrupted", len(children))
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left")
print("held back:", {*signal.pthread_sigmask(signal.SIG_BLOCK, ())})
"""
"""A process with one thread: in pytest's own, another thread takes the signal."""


def test_an_interrupt_that_meets_the_fork_ends_the_run_and_its_child() -> None:
    words = [sys.executable, "-c", _INTERRUPTED_FORK]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "interrupted 1\nno child is left\nheld back: set()\n", done.stderr


def test_a_fork_that_fails_leaves_no_signal_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(os, "fork", refused)
    run(_killed(HELLO, when=2), reference)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
