"""A crash names the user's own frames, apart from ours, the SDK's and the standard library's.

A run that hangs, or waits in real time, says where its threads and tasks stand.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness.checks.judge import judge
from harness.clock import real_sleep
from harness.core.history.events import Ended
from harness.core.history.history import canonical, decode, encode
from harness.core.scenario.scenario import Limits
from harness.report.run_report import block
from harness.runner import Run, run
from harness.targets.crash_trace import open_waits
from harness.verdicts.result import summarize
from tests.runner.test_limits_of_real_time import HELLO as REAL
from tests.targets.test_process_exits import HELLO


def parse(text: str) -> Any:
    return json.loads(text)


def agent(brief: Any) -> None:
    parse("{")


async def async_agent(brief: Any) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(parse, "{"))


def sdk_agent(brief: Any) -> None:
    brief.anthropic().messages.create(model=object(), max_tokens=1, messages=[])


def ended(target: Any) -> Ended:
    found = run(HELLO, target).history.trace.ended
    assert found is not None
    return found


def test_the_frames_of_the_user_end_where_another_s_code_begins() -> None:
    first, last = ended(agent).frames
    assert first.startswith("tests/targets/test_crash_trace.py:")
    assert first.endswith('in agent: parse("{")')
    assert last.endswith("in parse: return json.loads(text)")
    assert ended(agent).text.endswith("(in parse)")


def test_the_place_of_a_crash_is_its_innermost_frame_with_the_error() -> None:
    made = run(HELLO, agent)
    end, place = made.history.trace.ended, made.verdict.findings[0].place
    assert end is not None
    assert place is not None
    assert end.place == place
    assert end.frames[-1].startswith(f"{place} in {place.function}: ")
    assert (place.function, place.error) == ("parse", "JSONDecodeError")


def test_a_history_without_a_place_is_judged_as_before() -> None:
    made = run(HELLO, agent)
    old = encode(made.history.events).replace(b'"place":', b'"of_an_older_version":')
    (found,) = (f for f in judge(decode(old)).findings if f.check == "target")
    first = made.verdict.findings[0]
    cause = msgspec.structs.replace(first.cause, source="")
    assert found == msgspec.structs.replace(first, place=None, cause=cause)


def test_frames_below_tasks_threads_and_groups_are_the_user_s() -> None:
    assert ended(async_agent).frames[-1].endswith("in parse: return json.loads(text)")


def test_an_error_within_the_sdk_names_the_call_of_the_user() -> None:
    found = ended(sdk_agent)
    assert len(found.frames) == 1
    assert "in sdk_agent: brief.anthropic()" in found.frames[0]
    assert "anthropic" in found.traceback


def test_the_report_shows_the_frames_and_verbose_the_traceback() -> None:
    made = run(HELLO, agent)
    summary = summarize(made, None)
    short, long = block(summary, 100), block(summary, 100, verbose=True)
    line = made.verdict.findings[0].message.partition(":")[2].partition(":")[0]
    assert "the target crashed at tests/targets/test_crash_trace.py:" in short
    assert f"tests/targets/test_crash_trace.py:{line} in parse: return json.loads(text)" in short
    assert "Traceback" not in short
    assert "JSONDecodeError" in long.partition("Traceback (most recent call last)")[2]


def test_lines_of_code_are_no_part_of_the_canonical_history() -> None:
    assert b"test_crash_trace.py" not in canonical(run(HELLO, agent).history)


QUICK = msgspec.structs.replace(REAL, limits=Limits(real_s=0.4))


def _thread(brief: Any = None) -> None:
    queue.SimpleQueue[None]().get()


def _two_threads(brief: Any) -> None:
    thread = threading.Thread(target=_thread, daemon=True)
    thread.start()
    thread.join()


async def _first() -> None:
    await asyncio.Event().wait()


async def _second() -> None:
    await asyncio.get_running_loop().create_future()


async def _two_tasks(brief: Any) -> None:
    await asyncio.gather(_first(), _second())


def _functions(run: Run) -> set[str]:
    ended = run.history.events[-1]
    assert isinstance(ended, Ended)
    return {place.partition(" in ")[2].partition(":")[0] for place in ended.open_waits}


@pytest.mark.parametrize("world", ["simulate", "supervise"])
@pytest.mark.parametrize(
    ("agent", "functions"),
    [
        (_thread, {"_thread"}),
        (_two_threads, {"_thread", "_two_threads"}),
        (_two_tasks, {"_first", "_second", "_two_tasks"}),
    ],
)
def test_a_run_that_hangs_says_where(
    agent: Callable[[Any], Any], functions: set[str], world: Any
) -> None:
    played = run(QUICK, agent, world=world)
    assert _functions(played) == functions
    text = next(f.message for f in played.verdict.findings if f.code == "target.hung")
    assert all(name in text for name in functions)


@pytest.mark.timeout(20)
def test_tasks_of_trio_are_seen() -> None:
    trio = pytest.importorskip("trio")
    began: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def parked() -> None:
        await trio.sleep_forever()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(parked)
            nursery.start_soon(trio.Event().wait)
            began.put((trio.lowlevel.current_trio_token(), nursery.cancel_scope))
            await trio.sleep(30)

    thread = threading.Thread(target=trio.run, args=[main])
    thread.start()
    token, scope = began.get()
    found: set[str] = set()
    while found != {"parked: await trio.sleep_forever()", "main: await trio.sleep(30)"}:
        places = open_waits([thread.native_id or 0], "")
        found = {place.partition(" in ")[2] for place in places}
        real_sleep(0.01)
    token.run_sync_soon(scope.cancel)
    thread.join()


def _waits_really(brief: Any) -> None:
    for message in brief.inbox():
        threading.Event().wait(1.5)
        brief.send("Hello.", in_reply_to=message.id)


@pytest.mark.real
def test_a_real_wait_says_where() -> None:
    patient = msgspec.structs.replace(REAL, limits=Limits(real_s=30))
    played = run(patient, _waits_really)
    assert _functions(played) == {"_waits_really"}
    (doubt,) = played.verdict.doubts
    assert "real wait" in doubt
    assert "in _waits_really" in doubt


def test_a_run_that_ends_well_lists_nothing() -> None:
    assert _functions(run(REAL, lambda brief: None)) == set()
