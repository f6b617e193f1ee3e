"""Every fault that moves a clock in virtual time: it fires, and real clients meet this."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from harness.clock.virtual_clock import EPOCH_S
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.faults import faults
from harness.runner import run
from tests.faults.clock.lived import HOUR_S, Seen, answers, ask, fired, lived


@pytest.mark.parametrize(
    ("kind", "settings", "wall_s"),
    [
        ("jumps_forward", {}, HOUR_S),
        ("jumps_forward", {"jump_s": 0.25}, 0.25),
        ("jumps_back", {}, -HOUR_S),
        ("jumps_back", {"jump_s": 86_400}, -86_400),
    ],
)
@pytest.mark.parametrize("on", ["model", "tool", "inbox", "outbox"])
def test_the_wall_clock_jumps_and_the_monotonic_one_does_not(
    kind: str, settings: Seen, wall_s: float, on: str
) -> None:
    seen: list[tuple[float, float]] = []

    def agent(brief: Any) -> None:
        client, (lock,) = brief.anthropic(), brief.tools
        start = time.time(), time.monotonic()
        for inbound in brief.inbox():
            ask(client)
            lock.call({}, id=inbound.id)
            brief.send("done")
            seen.append((time.time() - start[0], time.monotonic() - start[1]))

    done = lived(agent, kind, on=on, settings=settings)
    assert fired(done) == 1
    assert seen[0] == pytest.approx((wall_s, 0))
    moments = [
        (run.called.at_ms, run.answered.at_ms)
        for run in done.history.trace.exchanges
        if run.answered
    ]
    assert moments
    assert all(asked == told for asked, told in moments)


def test_an_escalating_jump_is_twice_as_far_each_time() -> None:
    seen: list[float] = []

    def agent(brief: Any) -> None:
        client = brief.anthropic()
        for _ in range(3):
            ask(client)
            seen.append(time.time() - EPOCH_S)

    lived(agent, "jumps_forward", then="escalate", settings={"jump_s": 10})
    assert seen == pytest.approx([10, 30, 70])


def test_frozen_gives_rows_equal_times_however_long_lies_between_them() -> None:
    seen: list[tuple[float, float]] = []

    def agent(brief: Any) -> None:
        client = brief.anthropic()
        for seconds in (0, 60, 7.5, HOUR_S):
            time.sleep(seconds)
            ask(client)
            seen.append((time.time(), time.monotonic()))

    done = lived(agent, "frozen", often="forever")
    assert {wall for wall, _ in seen} == {EPOCH_S}
    assert len({monotonic for _, monotonic in seen}) == 4
    assert fired(done) == 3


def test_laptop_sleep_lets_hours_pass_on_the_wall_and_the_stream_is_dead() -> None:
    seen: Seen = {}

    def agent(brief: Any) -> None:
        import httpx2

        client = brief.anthropic()
        start = time.time(), time.monotonic()
        try:
            with client.messages.stream(
                model="m", max_tokens=64, messages=[{"role": "user", "content": "hello"}]
            ) as stream:
                seen["events"] = 0
                for _ in stream:
                    seen["events"] += 1
        except httpx2.ReadTimeout as error:
            seen["error"] = str(error)
        seen["wall"], seen["monotonic"] = time.time() - start[0], time.monotonic() - start[1]
        ask(client)

    done = lived(agent, "laptop_sleep", stream=True)
    assert seen["error"] == "The read operation timed out"
    assert seen["events"] == 4, "message_start, block_start, delta and the text that it gives"
    assert seen["monotonic"] == 600
    assert seen["wall"] == pytest.approx(8 * HOUR_S + 600)
    assert [event.outcome for event in answers(done)] == ["timeout", "ok"]


def test_an_answer_that_is_over_before_the_lid_is_closed_stays() -> None:
    done = lived(lambda brief: ask(brief.anthropic()), "laptop_sleep", must_fire=False)
    assert fired(done) == 0


def test_suspended_lets_all_timers_fire_at_once() -> None:
    woken: list[tuple[int, float]] = []

    async def agent(brief: Any) -> None:
        start = time.monotonic()

        async def timer(seconds: int) -> None:
            await asyncio.sleep(seconds)
            woken.append((seconds, time.monotonic() - start))

        timers = [asyncio.ensure_future(timer(seconds)) for seconds in (10, 60, 1800, 7200)]
        await asyncio.sleep(0)
        await ask(brief.async_anthropic())
        await asyncio.gather(*timers)

    done = lived(agent, "suspended")
    assert woken == [(10, HOUR_S), (60, HOUR_S), (1800, HOUR_S), (7200, 2 * HOUR_S)]
    assert fired(done) == 1


def test_faults_that_move_clocks_need_virtual_time() -> None:
    moving = {
        "clock.frozen",
        "clock.jumps_back",
        "clock.jumps_forward",
        "clock.laptop_sleep",
        "clock.suspended",
    }
    assert {kind for kind, fault in faults().items() if fault.virtual} == moving
    for kind in moving:
        scenario = Scenario(name="clock", faults=(FaultSpec(kind=kind),))
        verdict = run(scenario, lambda brief: None, world="supervise").verdict
        assert verdict.verdict == "not_applicable"
        (reason,) = verdict.not_applicable
        assert reason.reason == f"needs virtual time: fault {kind} moves the clock"
