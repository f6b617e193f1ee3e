"""Agents on threads, asyncio and trio: the same waits pass at once, and the same is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.core.history.events import Answered, Ended
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, Turn
from harness.core.values.errors import InputError
from harness.runner import Run, run
from harness.targets import of_callable

pytest.importorskip("trio")

HOUR_S = 3600
REQUEST: dict[str, Any] = {"model": "m", "max_tokens": 64}


def _asked(text: str) -> dict[str, Any]:
    return {**REQUEST, "messages": [{"role": "user", "content": text}]}


def on_threads(brief: Any) -> None:
    """Sleep a minute, then ask; tell what was met."""
    import time

    client = brief.anthropic()
    for inbound in brief.inbox():
        time.sleep(60)
        try:
            with client.messages.stream(**_asked(inbound.text)) as stream:
                said = stream.get_final_message()
            brief.send(said.content[0].text)
        except Exception as error:
            brief.send(type(error).__name__, kind="error")


async def on_asyncio(brief: Any) -> None:
    """The same with asyncio."""
    import asyncio

    await _serve(brief, asyncio.sleep)


async def on_trio(brief: Any) -> None:
    """The same with trio."""
    import trio

    assert trio.lowlevel.in_trio_run()
    await _serve(brief, trio.sleep)


async def _serve(brief: Any, sleep: Callable[[float], Any]) -> None:
    client = brief.async_anthropic()
    for inbound in brief.inbox():
        await sleep(60)
        try:
            async with client.messages.stream(**_asked(inbound.text)) as stream:
                said = await stream.get_final_message()
            brief.send(said.content[0].text)
        except Exception as error:
            brief.send(type(error).__name__, kind="error")


BACKENDS = [(on_threads, ""), (on_asyncio, "asyncio"), (on_trio, "trio")]
on_every_backend = pytest.mark.parametrize(
    ("agent", "backend"), BACKENDS, ids=["threads", "asyncio", "trio"]
)


def _run(agent: Any, backend: str, *faults: FaultSpec, **fields: Any) -> Run:
    scenario = Scenario(
        name="backends",
        stream=True,
        inbox=(InboxItem(id="m1", text="hello"),),
        script=(Turn(say="Hello to you."),),
        faults=faults,
        **fields,
    )
    options = {"backend": backend} if backend else {}
    return run(scenario, of_callable(agent, options))


def _answers(done: Run) -> list[tuple[int, str]]:
    events = [e for e in done.history.events if isinstance(e, Answered) and e.seam == "model"]
    return [(event.at_ms, event.outcome) for event in events]


def _ended(done: Run) -> Ended:
    last = done.history.events[-1]
    assert isinstance(last, Ended)
    return last


@on_every_backend
def test_sleeps_and_the_sdks_own_back_off_pass_at_once(agent: Any, backend: str) -> None:
    status = FaultSpec(kind="http.status", settings={"status": 529, "retry_after": 30})
    done = _run(agent, backend, status)
    assert done.verdict.verdict == "pass"
    assert _answers(done) == [(60_000, "error"), (90_000, "ok")]


@on_every_backend
def test_an_hour_of_pings_passes_at_once_and_ends_as_it_ends(agent: Any, backend: str) -> None:
    pings = FaultSpec(
        kind="transport.stalled_stream_with_pings", settings={"for_s": HOUR_S, "every_s": 15}
    )
    done = _run(agent, backend, pings)
    assert _ended(done).at_ms >= (60 + HOUR_S) * 1000
    assert _ended(done).how == "returned"
    assert _ended(done).real_wait_ms == 0
    assert _answers(done)[0] == (60_000, "error")


@on_every_backend
def test_a_silent_stream_ends_with_the_clients_read_time_out(agent: Any, backend: str) -> None:
    done = _run(agent, backend, FaultSpec(kind="transport.stalled_stream"))
    assert _answers(done)[0] == (60_000, "timeout")
    assert _ended(done).at_ms == (60 + 600) * 1000


@on_every_backend
def test_a_limit_of_virtual_time_ends_the_run(agent: Any, backend: str) -> None:
    done = _run(agent, backend, limits=Limits(virtual_s=30))
    assert _ended(done).how == "limit"
    assert _ended(done).text == "limits.virtual_s: the run waited past 30 s"


@on_every_backend
def test_two_runs_are_one_history(agent: Any, backend: str) -> None:
    status = FaultSpec(kind="http.status", often=2)
    assert _run(agent, backend, status).history.events == (
        _run(agent, backend, status).history.events
    )


async def computes_on_trio(brief: Any) -> None:
    """Compute without end."""
    while True:
        pass


def test_a_program_that_computes_on_trio_meets_the_limit_of_real_time() -> None:
    assert _ended(_run(computes_on_trio, "trio", limits=Limits(real_s=0.3))).how == "computes"


def test_trio_in_real_time_over_loopback() -> None:
    async def agent(brief: Any) -> None:
        import trio

        await _serve(brief, lambda seconds: trio.sleep(0))

    scenario = Scenario(name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hi."),))
    done = run(scenario, of_callable(agent, {"backend": "trio"}), world="supervise")
    assert [f.code for f in done.verdict.findings] == []


@pytest.mark.parametrize("world", ["simulate", "supervise"])
def test_an_unknown_backend_is_refused_with_the_nearest_one(world: Any) -> None:
    with pytest.raises(InputError, match="no backend 'tria'; did you mean 'trio'"):
        run(
            Scenario(name="hello", inbox=(InboxItem(text="hello"),)),
            of_callable(on_trio, {"backend": "tria"}),
            world=world,
        )


def test_an_option_of_that_name_is_a_synchronous_agents_own() -> None:
    assert _run(on_threads, "postgres").verdict.verdict == "pass"
