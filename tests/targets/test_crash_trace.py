"""A crash names the user's own frames, apart from ours, the SDK's and the standard library's."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec

from harness.checks.judge import judge
from harness.core.history.events import Ended
from harness.core.history.history import canonical, decode, encode
from harness.report.run_report import block
from harness.runner import run
from harness.verdicts.result import summarize
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
