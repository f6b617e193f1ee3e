"""Faults of the time that servers keep: retry dates, caches, leases and spells of overload."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from harness.clock.virtual_clock import EPOCH_S
from harness.core.values.brief import ToolError
from harness.faults import clock as server
from harness.runner import Run
from tests.faults.clock.lived import HOUR_S, answers, ask, lived


def test_the_servers_time_begins_with_ours() -> None:
    assert server.EPOCH_S == EPOCH_S


@pytest.mark.parametrize(
    ("skew_s", "least_s", "most_s"),
    [(0, 20, 20), (HOUR_S, HOUR_S + 20, HOUR_S + 20), (-15, 5, 5), (-HOUR_S, 0.375, 0.5)],
)
def test_skewed_retry_date_is_waited_for_unless_it_has_passed(
    skew_s: float, least_s: float, most_s: float
) -> None:
    done = lived(
        lambda brief: ask(brief.anthropic()), "skewed_retry_date", settings={"skew_s": skew_s}
    )
    refused, answered = answers(done)
    assert (refused.status, answered.status) == (429, 200)
    assert least_s * 1000 <= answered.at_ms <= most_s * 1000


def test_cache_expired_is_paid_for_again() -> None:
    met: list[Any] = []
    done = lived(lambda brief: met.append(ask(brief.anthropic())), "cache_expired")
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

    done = lived(agent, "lease_expired", settings={"lease_s": 60})
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
            await ask(client)
        except anthropic.APIStatusError:
            await asyncio.sleep(seconds or 0)
            await ask(client)

    async def agent(brief: Any) -> None:
        await asyncio.gather(*(one(brief, number) for number in range(40)))

    return agent


def _retries(done: Run) -> Counter[int]:
    """How many retries came in each millisecond."""
    return Counter(event.at_ms for event in answers(done) if event.status == 200)


def test_overloaded_until_sends_a_herd_away_and_only_jitter_spreads_it() -> None:
    knobs: Any = {"often": "forever", "settings": {"until_s": 0.001}}
    together = lived(_herd(lambda number: 0.5), "overloaded_until", **knobs)
    assert [event.status for event in answers(together)[:40]] == [529] * 40
    assert _retries(together) == {500: 40}, "without jitter the herd comes back as one"
    spread = lived(_herd(lambda number: None), "overloaded_until", **knobs)
    assert sum(_retries(spread).values()) == 40
    assert all(375 <= at_ms <= 500 for at_ms in _retries(spread))
    assert max(_retries(spread).values()) <= 6, "the SDK draws each wait from an eighth of a second"


def test_overloaded_until_is_over_when_its_time_is() -> None:
    done = lived(
        lambda brief: ask(brief.anthropic(max_retries=9)),
        "overloaded_until",
        often="forever",
        settings={"until_s": 10},
    )
    *refused, answered = answers(done)
    assert {event.status for event in refused} == {529}
    assert answered.at_ms >= 10_000 > refused[-1].at_ms


def test_overloaded_session_goes_on_while_others_succeed() -> None:
    waits: list[int] = []

    async def agent(brief: Any) -> None:
        import anthropic

        async def busy() -> None:
            client = brief.async_anthropic(base_url=f"{brief.base_url}/s/busy", max_retries=4)
            with pytest.raises(anthropic.APIStatusError) as caught:
                await ask(client)
            waits.append(caught.value.status_code)

        async def other() -> None:
            client = brief.async_anthropic(base_url=f"{brief.base_url}/s/other")
            for _ in range(8):
                await ask(client)
                await asyncio.sleep(1)

        await asyncio.gather(busy(), other())

    done = lived(agent, "overloaded_session", often="forever", settings={"session": "busy"})
    assert waits == [529]
    status = {session: set[int | None]() for session in ("busy", "other")}
    for event in answers(done):
        status[event.session].add(event.status)
    assert status == {"busy": {529}, "other": {200}}
    asked = [event.at_ms for event in answers(done) if event.session == "busy"]
    gaps = [later - earlier for earlier, later in pairwise(asked)]
    assert gaps == sorted(gaps), "the SDK's back-off grows independently of the others"
