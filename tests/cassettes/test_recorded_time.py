"""A cassette in its own time: waits are played where they are asked for, a cut always is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import msgspec
import pytest
import yaml

from harness.agent import build
from harness.agent.models.timeouts import SILENCE_MAX_S
from harness.cassettes.cassette_file import answer_durations
from harness.cassettes.cassette_player import cassette_script
from harness.cassettes.timing import Piece, Timing, to_metadata
from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.scenario.scenario import CassetteScript, FaultSpec, InboxItem, Limits, Scenario
from harness.core.transition.transition import Transition
from harness.core.values.brief import Brief
from harness.core.values.calls import OutboxRequest, Received
from harness.core.values.plans import Close, Plan, Send, Wait
from harness.faults import arm
from harness.providers import by_name
from harness.runner import Run, run
from harness.runner.needs import needs_virtual_time
from tests.cassettes.recorded_stream import (
    ASKED,
    BODY,
    EVENTS,
    TEN_MINUTES_MS,
    WAITS_MS,
    cassette_of,
    streamed,
)
from tests.record_cassettes import FOLDER, scenarios


class Played:
    """A cassette behind a transition."""

    def __init__(self, path: Path, *, timed: bool = False, fault: FaultSpec | None = None) -> None:
        wire, self.history = by_name("anthropic"), History()
        self.script = cassette_script(path, "anthropic", timed=timed)
        faults = [arm(fault, wire="anthropic", refusals=wire.refusals())] if fault else []
        scenario = Scenario(name="played")
        self.transition = Transition(scenario, wire, self.script, self.history, faults=faults)

    def ask(self, timeout_ms: int | None = None) -> Plan:
        """The plan of the answer to the one request that there is."""
        body = json.dumps(ASKED).encode()
        return self.transition.model(Received("/v1/messages", {}, body, 0, timeout_ms=timeout_ms))

    @property
    def last(self) -> Answered:
        """The last answered event."""
        return next(e for e in reversed(self.history.events) if isinstance(e, Answered))


def _body(plan: Plan) -> bytes:
    return b"".join(step.data for step in plan if isinstance(step, Send))


def test_an_answer_comes_at_once_or_as_it_was_recorded(tmp_path: Path) -> None:
    path = cassette_of(tmp_path, streamed())
    (at_once,) = Played(path).ask()
    timed = Played(path, timed=True)
    plan = timed.ask()
    assert isinstance(at_once, Send)
    assert at_once.data == _body(plan) == BODY
    assert [s.ms for s in plan if isinstance(s, Wait)] == WAITS_MS
    assert [s.data for s in plan if isinstance(s, Send)] == EVENTS
    assert (timed.last.complete, timed.last.silent_ms) == (True, TEN_MINUTES_MS)
    assert list(timed.script.unplayed(timed.history.past)) == []
    assert list(answer_durations(path)) == [(1, sum(WAITS_MS))]


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize(
    ("cut", "reset"),
    [("ReadError: [Errno 104]", True), ("RemoteProtocolError: peer closed", False),
     ("the client left", False)],
)  # fmt: skip
def test_what_was_cut_is_cut_again(tmp_path: Path, timed: bool, cut: str, reset: bool) -> None:
    path = cassette_of(tmp_path, streamed(3, cut), streamed())
    played = Played(path, timed=timed)
    plan = played.ask()
    assert plan[-1] == Close(reset=reset)
    assert _body(plan) == b"".join(EVENTS[:3])
    assert (played.last.complete, played.last.outcome) == (False, "error")
    assert played.last.script_turn == 0, "what was recorded so was played so"
    assert _body(played.ask()) == BODY
    assert played.last.script_turn == 1


@pytest.mark.parametrize("timing", [None, "misfit"])
def test_without_times_of_its_own_an_answer_comes_at_once(tmp_path: Path, timing: Any) -> None:
    made, other = streamed(6, "ReadError: ", of=2)
    path = cassette_of(tmp_path, (made, None if timing is None else other))
    assert len(Played(path, timed=True).ask()) == 1
    assert list(answer_durations(path)) == [(1, 0)]


def test_a_client_that_gave_up_meets_the_same_silence_again(tmp_path: Path) -> None:
    played = Played(cassette_of(tmp_path, streamed()), timed=True)
    for _ in range(2):
        plan = played.ask(timeout_ms=300_000)
        assert _body(plan) == b"".join(EVENTS[:2])
        assert (played.last.outcome, played.last.script_turn) == ("timeout", None)
    assert _body(played.ask(timeout_ms=900_000)) == BODY
    assert played.last.script_turn == 0


@pytest.mark.parametrize("timed", [False, True])
def test_faults_count_the_events_of_a_recorded_stream(tmp_path: Path, timed: bool) -> None:
    fault = FaultSpec(kind="transport.reset_mid_stream", settings={"after": 3})
    played = Played(cassette_of(tmp_path, streamed()), timed=timed, fault=fault)
    plan = played.ask()
    assert _body(plan) == b"".join(EVENTS[:3])
    assert plan[-1] == Close(reset=True)
    assert (played.last.script_turn, played.last.faults) == (None, ("transport.reset_mid_stream",))
    assert _body(played.ask()) == BODY


@pytest.mark.parametrize("kind", ["http.overloaded", "model.identical_call", "transport.latency"])
def test_a_fault_does_not_make_a_cut_answer_whole(tmp_path: Path, kind: str) -> None:
    path = cassette_of(tmp_path, streamed(3, "ReadError: "))
    played = Played(path, fault=FaultSpec(kind=kind, must_fire=False))
    plan = played.ask()
    if played.last.status == 200:
        assert plan[-1] == Close(reset=True)
        assert played.last.script_turn == 0
    else:
        assert played.last.script_turn is None
        assert played.ask()[-1] == Close(reset=True)


def _scenario(path: Path, timing: Any) -> Scenario:
    return Scenario(
        name="in-time",
        stream=True,
        inbox=(InboxItem(text="hi"),),
        script=CassetteScript(cassette=str(path), timing=timing),
    )


def _patient(read_s: float) -> Any:
    def agent(brief: Brief) -> None:
        timeout = httpx2.Timeout(read_s, connect=5.0)
        client = brief.anthropic(timeout=timeout, max_retries=0)
        for inbound in brief.inbox():
            messages = [{"role": "user", "content": inbound.text}]
            try:
                with client.messages.stream(
                    model="claude-x", max_tokens=100, messages=messages
                ) as stream:
                    brief.send(stream.get_final_text())
            except anthropic.APIError as error:
                brief.send(type(error).__name__, kind="error")
            except httpx2.TransportError as error:
                brief.send(type(error).__name__, kind="error")

    return agent


def _told(found: Run) -> list[str]:
    asked = (e.request for e in found.history.events if isinstance(e, Called))
    return [request.text for request in asked if isinstance(request, OutboxRequest)]


@pytest.mark.parametrize(
    ("timing", "read_s", "told"),
    [
        ("at_once", 60.0, "hello"),
        ("recorded", 900.0, "hello"),
        ("recorded", 60.0, "ReadTimeout"),
    ],
)
def test_the_sdk_lives_through_the_recorded_silence(
    tmp_path: Path, timing: str, read_s: float, told: str
) -> None:
    path = cassette_of(tmp_path, streamed())
    found = run(_scenario(path, timing), _patient(read_s))
    assert _told(found) == [told]
    codes = {finding.code for finding in found.verdict.findings}
    assert ("cassette.unplayed" in codes) == (told != "hello")
    ended = found.history.trace.ended
    assert ended is not None
    assert ended.at_ms >= {"at_once": 0, "recorded": min(read_s, 600) * 1000}[timing]


def test_the_reference_agent_does_not_wait_out_a_recorded_silence(tmp_path: Path) -> None:
    made = yaml.safe_load((FOLDER / "empty-inputs.yaml").read_text())
    size_bytes = len(made["interactions"][0]["response"]["body"]["string"].encode())
    pieces = (Piece(40, 100), Piece(size_bytes - 40, TEN_MINUTES_MS))
    path = tmp_path / "x.yaml"
    path.write_text(yaml.dump({**made, "metadata": to_metadata([Timing(0, pieces)])}))
    scenario = msgspec.structs.replace(
        scenarios()["empty-inputs+stream"],
        script=CassetteScript(cassette=str(path), timing="recorded"),
        folder=str(tmp_path),
    )
    found = run(scenario, lambda brief: build(brief).run())
    answers = [e.answered for e in found.history.trace.exchanges if e.answered]
    assert {(a.outcome, a.script_turn) for a in answers} == {("timeout", None)}
    assert all(a.silent_ms <= SILENCE_MAX_S * 1000 for a in answers)
    assert found.verdict.outcome == "failed_truthfully"


@pytest.mark.parametrize("cut", ["ReadError: reset", "RemoteProtocolError: incomplete"])
@pytest.mark.parametrize("world", ["simulate", "supervise"])
def test_the_sdk_meets_the_cut_in_both_worlds(tmp_path: Path, cut: str, world: Any) -> None:
    path = cassette_of(tmp_path, streamed(3, cut))
    found = run(_scenario(path, "at_once"), _patient(60.0), world=world)
    assert _told(found) in (["ReadError"], ["RemoteProtocolError"], ["APIConnectionError"])
    assert not any(f.code.startswith("cassette.") for f in found.verdict.findings)


def test_what_took_longer_than_real_time_allows_needs_virtual_time(tmp_path: Path) -> None:
    path = cassette_of(tmp_path, streamed())
    assert needs_virtual_time(_scenario(path, "recorded")) == (
        "exchange #1 of the cassette takes 10 min 0.427 s"
    )
    assert needs_virtual_time(_scenario(path, "at_once")) == ""
    assert SILENCE_MAX_S < TEN_MINUTES_MS / 1000
    assert Limits().real_s < TEN_MINUTES_MS / 1000
