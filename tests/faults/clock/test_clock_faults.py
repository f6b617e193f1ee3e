"""Every clock fault against real clients in virtual time: it fires, and this is what they see."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from harness.clock.virtual import EPOCH_S
from harness.core.brief import ToolError
from harness.core.events import Answered
from harness.core.scenario import (
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    ToolScript,
    Turn,
)
from harness.faults import faults
from harness.faults.clock import server
from harness.runner import Run, run

HOUR_S = 3600
Seen = dict[str, Any]


def _lived(
    agent: Callable[[Any], Any],
    kind: str,
    *,
    stream: bool = False,
    turns: int = 1,
    **knobs: Any,
) -> Run:
    scenario = Scenario(
        name="clock",
        stream=stream,
        tools={"lock": ToolScript()},
        inbox=(InboxItem(id="m1", text="hello"), InboxItem(id="m2", text="again")),
        script=(Turn(say="Hello to you.", times="forever"),),
        faults=(FaultSpec(kind=f"clock.{kind}", **knobs),),
        limits=Limits(model_calls=200),
    )
    return run(scenario, agent)


def _answers(done: Run) -> list[Answered]:
    return [e for e in done.history.events if isinstance(e, Answered) and e.seam == "model"]


def _fired(done: Run) -> int:
    return sum(len(e.faults) for e in done.history.events if isinstance(e, Answered))


def _ask(client: Any, **more: Any) -> Any:
    request: Any = [{"role": "user", "content": "hello"}]
    return client.messages.create(model="m", max_tokens=64, messages=request, **more)


def test_the_servers_time_begins_with_ours() -> None:
    assert server.EPOCH_S == EPOCH_S


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
            _ask(client)
            lock.call({}, id=inbound.id)
            brief.send("done")
            seen.append((time.time() - start[0], time.monotonic() - start[1]))

    done = _lived(agent, kind, on=on, settings=settings)
    assert _fired(done) == 1
    assert seen[0] == pytest.approx((wall_s, 0))
    assert [event.at_ms for event in _answers(done)] == [0, 0]


def test_an_escalating_jump_is_twice_as_far_each_time() -> None:
    seen: list[float] = []

    def agent(brief: Any) -> None:
        client = brief.anthropic()
        for _ in range(3):
            _ask(client)
            seen.append(time.time() - EPOCH_S)

    _lived(agent, "jumps_forward", then="escalate", settings={"jump_s": 10})
    assert seen == pytest.approx([10, 30, 70])


def test_frozen_gives_rows_equal_times_however_long_lies_between_them() -> None:
    seen: list[tuple[float, float]] = []

    def agent(brief: Any) -> None:
        client = brief.anthropic()
        for seconds in (0, 60, 7.5, HOUR_S):
            time.sleep(seconds)
            _ask(client)
            seen.append((time.time(), time.monotonic()))

    done = _lived(agent, "frozen", often="forever")
    assert {wall for wall, _ in seen} == {EPOCH_S}
    assert len({monotonic for _, monotonic in seen}) == 4
    assert _fired(done) == 3


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
        _ask(client)

    done = _lived(agent, "laptop_sleep", stream=True)
    assert seen["error"] == "The read operation timed out"
    assert seen["events"] == 4, "message_start, block_start, delta and the text that it gives"
    assert seen["monotonic"] == 600
    assert seen["wall"] == pytest.approx(8 * HOUR_S + 600)
    assert [event.outcome for event in _answers(done)] == ["timeout", "ok"]


def test_an_answer_that_is_over_before_the_lid_is_closed_stays() -> None:
    done = _lived(lambda brief: _ask(brief.anthropic()), "laptop_sleep", must_fire=False)
    assert _fired(done) == 0


def test_suspended_lets_all_timers_fire_at_once() -> None:
    woken: list[tuple[int, float]] = []

    async def agent(brief: Any) -> None:
        start = time.monotonic()

        async def timer(seconds: int) -> None:
            await asyncio.sleep(seconds)
            woken.append((seconds, time.monotonic() - start))

        timers = [asyncio.ensure_future(timer(seconds)) for seconds in (10, 60, 1800, 7200)]
        await asyncio.sleep(0)
        await _ask(brief.async_anthropic())
        await asyncio.gather(*timers)

    done = _lived(agent, "suspended")
    assert woken == [(10, HOUR_S), (60, HOUR_S), (1800, HOUR_S), (7200, 2 * HOUR_S)]
    assert _fired(done) == 1


@pytest.mark.parametrize(
    ("skew_s", "least_s", "most_s"),
    [(0, 20, 20), (HOUR_S, HOUR_S + 20, HOUR_S + 20), (-15, 5, 5), (-HOUR_S, 0.375, 0.5)],
)
def test_skewed_retry_date_is_waited_for_unless_it_has_passed(
    skew_s: float, least_s: float, most_s: float
) -> None:
    done = _lived(
        lambda brief: _ask(brief.anthropic()), "skewed_retry_date", settings={"skew_s": skew_s}
    )
    refused, answered = _answers(done)
    assert (refused.status, answered.status) == (429, 200)
    assert least_s * 1000 <= answered.at_ms <= most_s * 1000


def test_cache_expired_is_paid_for_again() -> None:
    met: list[Any] = []
    done = _lived(lambda brief: met.append(_ask(brief.anthropic())), "cache_expired")
    usage = met[0].usage
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (0, 2048)
    assert done.history.events[-1].at_ms == 301_000


def test_lease_expired_is_reported_after_its_time() -> None:
    met: list[str] = []

    def agent(brief: Any) -> None:
        for _ in range(2):
            try:
                met.append(brief.tools[0].call({}, id="toolu_1"))
            except ToolError as error:
                met.append(str(error))

    done = _lived(agent, "lease_expired", settings={"lease_s": 60})
    assert met == ["the lease expired after 60 s; acquire it again and repeat the call", "ok"]
    assert done.history.events[-1].at_ms == 60_001


def _herd(wait: Callable[[int], float | None]) -> Callable[[Any], Any]:
    """Forty sessions that ask in one moment; one that is refused waits as `wait` says, or as its
    SDK does for None."""

    async def one(brief: Any, number: int) -> None:
        import anthropic

        seconds = wait(number)
        client = brief.async_anthropic(
            base_url=f"{brief.base_url}/s/s{number}", max_retries=0 if seconds else 2
        )
        try:
            await _ask(client)
        except anthropic.APIStatusError:
            await asyncio.sleep(seconds or 0)
            await _ask(client)

    async def agent(brief: Any) -> None:
        await asyncio.gather(*(one(brief, number) for number in range(40)))

    return agent


def _retries(done: Run) -> Counter[int]:
    """How many retries came in each millisecond."""
    return Counter(event.at_ms for event in _answers(done) if event.status == 200)


def test_overloaded_until_sends_a_herd_away_and_only_jitter_spreads_it() -> None:
    knobs: Any = {"often": "forever", "settings": {"until_s": 0.001}}
    together = _lived(_herd(lambda number: 0.5), "overloaded_until", **knobs)
    assert [event.status for event in _answers(together)[:40]] == [529] * 40
    assert _retries(together) == {500: 40}, "without jitter the herd comes back as one"
    spread = _lived(_herd(lambda number: None), "overloaded_until", **knobs)
    assert sum(_retries(spread).values()) == 40
    assert all(375 <= at_ms <= 500 for at_ms in _retries(spread))
    assert max(_retries(spread).values()) <= 6, "the SDK draws each wait from an eighth of a second"


def test_overloaded_until_is_over_when_its_time_is() -> None:
    done = _lived(
        lambda brief: _ask(brief.anthropic(max_retries=9)),
        "overloaded_until",
        often="forever",
        settings={"until_s": 10},
    )
    *refused, answered = _answers(done)
    assert {event.status for event in refused} == {529}
    assert answered.at_ms >= 10_000 > refused[-1].at_ms


def test_overloaded_session_goes_on_while_others_succeed() -> None:
    waits: list[int] = []

    async def agent(brief: Any) -> None:
        import anthropic

        async def busy() -> None:
            client = brief.async_anthropic(base_url=f"{brief.base_url}/s/busy", max_retries=4)
            with pytest.raises(anthropic.APIStatusError) as caught:
                await _ask(client)
            waits.append(caught.value.status_code)

        async def other() -> None:
            client = brief.async_anthropic(base_url=f"{brief.base_url}/s/other")
            for _ in range(8):
                await _ask(client)
                await asyncio.sleep(1)

        await asyncio.gather(busy(), other())

    done = _lived(agent, "overloaded_session", often="forever", settings={"session": "busy"})
    assert waits == [529]
    status = {session: set[int | None]() for session in ("busy", "other")}
    for event in _answers(done):
        status[event.session].add(event.status)
    assert status == {"busy": {529}, "other": {200}}
    asked = [event.at_ms for event in _answers(done) if event.session == "busy"]
    gaps = [later - earlier for earlier, later in pairwise(asked)]
    assert gaps == sorted(gaps), "the SDK's back-off grows whatever others do"


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
