"""Tools that are awaited in a thread: their time passes for the waiter."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from harness.core.history.events import Ended
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.runner import Run, run
from tests.runner import agents

GUARD_S = 900


def _scenario(hang: bool | float) -> Scenario:
    return Scenario(
        name="hangs",
        inbox=(InboxItem(text="hello"),),
        tools={"slow": ToolScript(script=(ToolTurn(hang=hang),))},
        script=(Turn(say="It took too long."),),
    )


def _ended(played: Run) -> Ended:
    last = played.history.events[-1]
    assert isinstance(last, Ended)
    return last


async def _ask(brief: Any, text: str) -> None:
    request = [{"role": "user", "content": text}]
    await brief.async_anthropic().messages.create(model="m", max_tokens=64, messages=request)


async def with_asyncio(brief: Any) -> None:
    """The standard guard around a tool that blocks."""
    for message in brief.inbox():
        await _ask(brief, message.text)
        job = asyncio.to_thread(brief.tools[0].call, {}, id="a")
        try:
            await asyncio.wait_for(job, GUARD_S)
        except TimeoutError:
            brief.send("It took too long.", in_reply_to=message.id)


async def with_anyio(brief: Any) -> None:
    """The same guard on anyio."""
    import anyio.to_thread

    for message in brief.inbox():
        await _ask(brief, message.text)
        with anyio.move_on_after(GUARD_S) as guard:
            call = lambda: brief.tools[0].call({}, id="a")  # noqa: E731
            await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        assert guard.cancelled_caught
        brief.send("It took too long.", in_reply_to=message.id)


@pytest.mark.parametrize("agent", [with_asyncio, with_anyio])
def test_a_tool_that_hangs_for_good_meets_the_guard_around_it(agent: Any) -> None:
    played = run(_scenario(hang=True), agent)
    assert [f.code for f in played.verdict.findings] == []
    assert (_ended(played).how, _ended(played).at_ms) == ("returned", GUARD_S * 1000)


def test_the_sleep_of_an_agent_s_own_thread_past_the_limit_is_still_found() -> None:
    async def agent(brief: Any) -> None:
        for message in brief.inbox():
            await _ask(brief, message.text)
            brief.send("I sleep on.", in_reply_to=message.id)
        asyncio.get_running_loop().run_in_executor(None, time.sleep, 10**6)

    assert _ended(run(_scenario(hang=True), agent)).how == "limit"


def test_a_thread_that_nobody_waits_for_does_not_move_the_clock_at_the_end() -> None:
    async def agent(brief: Any) -> None:
        await asyncio.to_thread(agents.greet, brief)  # makes the loop's own executor
        threading.Thread(target=time.sleep, args=[5000], daemon=True).start()

    for _ in range(5):
        assert _ended(run(_scenario(hang=1.0), agent)).at_ms == 0
