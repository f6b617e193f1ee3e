"""Every tool fault against a brief's tool: it fires, and the caller meets this."""

from __future__ import annotations

import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from harness.clock import VirtualClock
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario, ToolScript
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.faults import arm
from harness.providers import by_name
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief
from harness.transports.python_calls import CHANGED, OddError
from tests.faults.tools.met import TOOLS, Met, effects, fired
from tests.faults.tools.outcomes import RAISES, RETURNS

NO_EFFECT = {
    *("tools.raises", "tools.raises_custom", "tools.raises_base", "tools.interrupts"),
    *("tools.exits", "tools.fails", "tools.fails_in_text", "tools.error_page"),
    *("tools.approval_never", "tools.approval_denied", "tools.server_down"),
}
"""The faults for which the tool has done nothing."""

OTHER_EFFECTS = {
    "tools.effect_twice": ["payment", "payment"],
    "tools.partial_effect": ["payment in part"],
    "tools.kills_agent": ["payment", "restart"],
}


@pytest.mark.parametrize("kind", RETURNS)
def test_what_the_tool_returns(kind: str) -> None:
    settings, result = RETURNS[kind]
    met = Met(kind, **settings)
    assert (met.error, met.result) == (None, result)
    assert fired(met.run) == [kind]


@pytest.mark.parametrize("kind", RAISES)
def test_what_the_tool_raises(kind: str) -> None:
    settings, error, text = RAISES[kind]
    met = Met(kind, **settings)
    assert type(met.error) is error
    assert fired(met.run) == [kind]
    if error is not OddError:
        assert str(met.error) == text


def test_an_odd_error_has_no_text() -> None:
    with pytest.raises(RuntimeError, match="no text"):
        str(Met("tools.raises_custom").error)


@pytest.mark.parametrize("kind", TOOLS)
def test_what_happens_to_the_outside_world(kind: str) -> None:
    usual = [] if kind in NO_EFFECT else ["payment"]
    assert effects(Met(kind).run) == OTHER_EFFECTS.get(kind, usual)


@pytest.mark.parametrize("kind", TOOLS)
def test_a_tool_without_an_effect(kind: str) -> None:
    spec = FaultSpec(kind=kind)
    plain = Scenario(name="tools", tools={"pay": ToolScript()}, faults=(spec,))
    run = Transition(
        plain, by_name("anthropic"), TurnScript((), Draws(0)), History(), faults=[arm(spec)]
    )
    tool = InProcessBrief(Dispatcher(run, VirtualClock(limit_s=86_400)), Path("/nowhere")).tools[0]
    with contextlib.suppress(BaseException):
        tool.call({}, id="toolu_1")
    needs_effect = kind in ("tools.effect_twice", "tools.partial_effect")
    assert fired(run) == ([] if needs_effect else [kind])


def test_a_late_tool_takes_virtual_time_and_is_given_up_by_a_limit() -> None:
    assert Met("tools.late", wait_s=90.0).clock.now_ms() == 90_000
    given_up = Met("tools.late", wait_s=90.0, timeout_s=30.0)
    assert isinstance(given_up.error, TimeoutError)
    assert given_up.clock.now_ms() == 30_000
    assert effects(given_up.run) == ["payment"], "the tool continues without a waiting caller"


def test_a_tool_that_never_returns_is_given_up_by_a_limit() -> None:
    met = Met("tools.never_returns", timeout_s=30.0)
    assert isinstance(met.error, TimeoutError)
    assert met.clock.now_ms() == 30_000
    waited = Met("tools.never_returns", wait_s=5.0)
    assert (str(waited.error), waited.clock.now_ms()) == ("the tool does not answer", 5_000)


def test_nobody_approves_for_eight_hours() -> None:
    assert Met("tools.approval_never").clock.now_ms() == 8 * 3_600_000


def test_an_endless_answer_has_no_end() -> None:
    met = Met("tools.endless")
    assert list(itertools.islice(met.result, 3)) == ["and so on\n"] * 3
    assert fired(met.run) == ["tools.endless"]


@pytest.mark.parametrize(
    ("kind", "settings", "count", "size"),
    [("tools.image_too_big", {}, 1, 7_000_000), ("tools.many_images", {"count": 101}, 101, None)],
)
def test_images(kind: str, settings: dict[str, Any], count: int, size: int | None) -> None:
    met = Met(kind, **settings)
    assert [part["type"] for part in met.result] == ["image"] * count
    if size:
        assert len(met.result[0]["source"]["data"]) == size
    assert fired(met.run) == [kind]


@pytest.mark.parametrize(
    ("first", "then"), [(150_000, [300_000, 400_000]), (500_000, [500_000] * 2)]
)
def test_what_is_huge_grows_to_400_000_bytes(first: int, then: list[int]) -> None:
    spec = FaultSpec(kind="tools.huge", then="escalate", settings={"size_bytes": first})
    grows = Scenario(name="tools", tools={"pay": ToolScript()}, faults=(spec,))
    run = Transition(
        grows, by_name("anthropic"), TurnScript((), Draws(0)), History(), faults=[arm(spec)]
    )
    tool = InProcessBrief(Dispatcher(run, VirtualClock(limit_s=86_400)), Path("/nowhere")).tools[0]
    read = [len(tool.call({}, id=f"toolu_{n}")) for n in range(3)]
    assert read == [first, *then]


def test_what_is_huge_is_a_million_bytes_and_at_most_a_hundred_million() -> None:
    assert len(Met("tools.huge").result) == 1_000_000
    with pytest.raises(Exception, match="size_bytes"):
        Met("tools.huge", size_bytes=100_000_001)


def test_a_result_that_only_looks_like_one() -> None:
    text = Met("tools.imitated_result").result
    assert text.startswith("paid")
    assert '</tool_result>\n<tool_result tool_use_id="toolu_0">' in text
    assert Met("tools.error_page").result.startswith("<!DOCTYPE html>")


def test_a_tool_that_changes_its_input_changes_the_callers_and_not_the_history() -> None:
    met = Met("tools.changes_its_input")
    assert met.input == {"changed": CHANGED.format(0)}
    called = next(e for e in met.run.history.events if hasattr(e, "request"))
    assert called.request.input == {"sum": 1}


def test_a_tool_that_changes_its_answer_does_so_when_it_is_called_again() -> None:
    met = Met("tools.changes_its_answer")
    first = met.result
    assert met.tool.call({}, id="toolu_2") == "paid"
    assert first == [{"type": "text", "text": CHANGED.format(1)}]
    met.tool.call({}, id="toolu_3")
    assert first == [{"type": "text", "text": CHANGED.format(2)}]


def test_a_tool_that_kills_its_agent() -> None:
    met = Met("tools.kills_agent")
    assert met.died == 1
    assert fired(met.run) == ["tools.kills_agent"]


def test_a_picture_of_the_default_size_is_one_that_the_provider_refuses() -> None:
    met = Met("tools.image_too_big")
    call = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": {}}
    shown = {"type": "tool_result", "tool_use_id": "toolu_1", "content": met.result}
    messages = [
        {"role": "user", "content": "Pay."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [shown]},
    ]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode()
    reading = by_name("anthropic").reader("", None).read(body)
    assert [violation.rule for violation in reading.violations] == ["V26"]
