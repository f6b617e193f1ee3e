"""How the SDK's own retries meet what steers them: waits in virtual time, counted from a run."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import anthropic
import pytest

from harness.core.history.events import Called
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, Turn
from harness.core.values.calls import ModelRequest
from harness.runner import run

DAY_S = 86_400.0
QUICK, SLOW = (0.375, 0.5), (0.75, 1.0)
"""The SDK's own waits before its first and its second retry, with its jitter."""


def ask_once(brief: Any) -> None:
    """An agent that asks, and says what came of it."""
    for message in brief.inbox():
        request = [{"role": "user", "content": message.text}]
        try:
            said = brief.anthropic().messages.create(model="m", max_tokens=9, messages=request)
            brief.send(said.content[0].text)
        except anthropic.APIError as error:
            brief.send(f"failed: {error}", kind="error")


def waits(kind: str, often: Any = "forever", **settings: Any) -> tuple[list[float], list[int]]:
    """The seconds between the tries of one call, and the number of each try."""
    scenario = Scenario(
        name="retries",
        inbox=(InboxItem(id="m1", text="hi"),),
        script=(Turn(say="hello", times="forever"),),
        faults=(FaultSpec(kind=kind, often=often, settings=settings),),
        limits=Limits(virtual_s=4 * DAY_S),
    )
    events = run(scenario, ask_once).history.events
    tries = [e for e in events if isinstance(e, Called) and isinstance(e.request, ModelRequest)]
    seconds = [e.at_ms / 1000 for e in tries]
    gaps = [later - sooner for sooner, later in pairwise(seconds)]
    return gaps, [e.sdk_retry for e in tries]


def within(gaps: list[float], *bounds: tuple[float, float]) -> bool:
    return len(gaps) == len(bounds) and all(
        low - 0.002 <= gap <= high + 0.002 for gap, (low, high) in zip(gaps, bounds, strict=True)
    )


@pytest.mark.parametrize(
    "name",
    [
        "request_timeout",
        "conflict",
        "rate_limited_without_retry_after",
        "server_error",
        "overloaded",
        "should_retry_true_on_400",
        "spend_limit",
    ],
)
def test_the_sdk_tries_three_times(name: str) -> None:
    gaps, tries = waits(f"http.{name}")
    assert tries == [0, 1, 2]
    assert within(gaps, QUICK, SLOW)


@pytest.mark.parametrize(
    "name",
    [
        "should_retry_false_on_529",
        "key_rotated",
        "permission_revoked",
        "payment_required",
        "credit_too_low",
        "model_gone",
        "too_large",
        "invalid_request",
    ],
)
def test_the_sdk_tries_once(name: str) -> None:
    assert waits(f"http.{name}") == ([], [0])


@pytest.mark.parametrize(
    "value",
    [0, -5, "nan", "soon", "Wed, 21 Oct 2015 07:28:00 GMT"],
)
def test_a_retry_after_that_says_nothing_is_the_usual_wait(value: str | float) -> None:
    gaps, _ = waits("http.retry_after", retry_after=value)
    assert within(gaps, QUICK, SLOW)


@pytest.mark.parametrize(("value", "wait_s"), [(1, 1.0), (1.5, 1.5), ("2", 2.0), (DAY_S, DAY_S)])
def test_a_retry_after_is_obeyed_however_long(value: str | float, wait_s: float) -> None:
    gaps, _ = waits("http.retry_after", retry_after=value)
    assert within(gaps, (wait_s, wait_s), (wait_s, wait_s))


def test_a_retry_after_as_a_date_counts_from_the_wall_clock() -> None:
    gaps, _ = waits("http.retry_after", often="once", retry_after="Thu, 01 Jan 2026 00:01:00 GMT")
    assert within(gaps, (59.0, 60.0))


def test_retry_after_ms_comes_before_retry_after() -> None:
    gaps, _ = waits("http.retry_after_ms", often="once", retry_after_ms=120)
    assert within(gaps, (0.12, 0.12))


def test_a_fault_that_strikes_once_costs_one_retry() -> None:
    gaps, tries = waits("http.server_error", often="once")
    assert (len(gaps), tries) == (1, [0, 1])


@pytest.mark.parametrize(
    "name", ["reset_before_headers", "refused", "content_length_too_large", "plain_body_as_gzip"]
)
def test_a_connection_that_fails_is_tried_again(name: str) -> None:
    gaps, tries = waits(f"transport.{name}")
    assert tries == [0, 1, 2]
    assert within(gaps, QUICK, SLOW)


def test_silence_costs_the_whole_time_out_each_time() -> None:
    gaps, tries = waits("transport.headers_never_come")
    assert tries == [0, 1, 2]
    assert within(gaps, (600.375, 600.5), (600.75, 601.0))


def test_a_connect_that_hangs_costs_five_seconds_each_time() -> None:
    gaps, _ = waits("transport.connect_timeout")
    assert within(gaps, (5.375, 5.5), (5.75, 6.0))
