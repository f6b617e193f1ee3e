from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.core.plans import Close, Plan, Send, Wait, is_whole
from harness.faults import transport
from harness.faults.transport import FOREVER_MS
from tests.faults.world import bend, written

STREAM, JSON = written(stream=True), written(stream=False)


@pytest.mark.parametrize("plan", [STREAM, JSON])
@pytest.mark.parametrize(
    ("fault", "settings", "expected"),
    [
        (transport.latency, {"wait_s": 0.25}, lambda plan: (Wait(250), *plan)),
        (transport.latency, {"wait_s": 1, "firing": 4}, lambda plan: (Wait(8000), *plan)),
        (transport.latency, {"wait_s": 1e300}, lambda plan: (Wait(FOREVER_MS), *plan)),
        (transport.reset_before_headers, {}, lambda plan: (Close(reset=True),)),
        (transport.close_before_headers, {}, lambda plan: (Close(),)),
        (transport.headers_never_come, {}, lambda plan: (Wait(FOREVER_MS), Close())),
        (transport.headers_never_come, {"wait_s": 2}, lambda plan: (Wait(2000), Close())),
        (transport.reset_mid_stream, {"after": 0}, lambda plan: (Close(reset=True),)),
        (transport.stalled_stream, {"after": 0, "wait_s": 1}, lambda plan: (Wait(1000), Close())),
    ],
)
def test_what_a_fault_makes_of_an_answer(
    plan: Plan,
    fault: Callable[..., Plan],
    settings: dict[str, Any],
    expected: Callable[[Plan], Plan],
) -> None:
    assert bend(fault, plan, **settings) == expected(plan)


@pytest.mark.parametrize("after", range(len(STREAM)))
def test_a_stream_is_cut_after_so_many_events(after: int) -> None:
    reset = bend(transport.reset_mid_stream, STREAM, after=after)
    assert reset == (*STREAM[:after], Close(reset=True))
    stalled = bend(transport.stalled_stream, (Wait(5), *STREAM), after=after)
    assert stalled == (Wait(5), *STREAM[:after], Wait(FOREVER_MS), Close())
    assert not is_whole(reset)


@pytest.mark.parametrize("fault", [transport.reset_mid_stream, transport.stalled_stream])
def test_what_is_too_short_to_be_cut_stays(fault: Callable[..., Plan]) -> None:
    assert bend(fault, JSON) == JSON
    assert bend(fault, STREAM, after=len(STREAM)) == STREAM
    assert sum(isinstance(step, Send) for step in STREAM) == len(STREAM)
