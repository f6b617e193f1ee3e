"""The seconds that a user takes for a message: on virtual time alone, as the seed says."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.scenario.inbox import PAUSE_MS
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.runner import Run, run

TALK = Scenario(
    name="talk",
    tools={"look": ToolScript(script=(ToolTurn(ok="nothing"),))},
    inbox=tuple(InboxItem(text=f"Question {n}, please.") for n in range(6)),
    script=tuple(Turn(say=f"This is answer {n}.") for n in range(6)),
)


def _talks(brief: Any, *, clock: bool = False, patience_s: float = 3600) -> None:
    """Keeps its messages in memory; `patience_s` counts from the start of the session."""
    began, messages = time.monotonic(), list[dict[str, str]]()
    for inbound in brief.inbox():
        now = f" It is {time.time():.0f}." if clock else ""
        messages.append({"role": "user", "content": inbound.text})
        if time.monotonic() - began > patience_s:
            brief.send("The time for this question is over.", kind="error")
            messages.pop()
            continue
        answer = brief.anthropic().messages.create(
            model="m", max_tokens=99, messages=messages, system=f"You help.{now}"
        )
        messages.append({"role": "assistant", "content": answer.content[0].text})
        brief.send(answer.content[0].text)


def _codes(done: Run) -> set[str]:
    return {finding.code for finding in done.verdict.findings}


def _delivered_ms(done: Run) -> list[int]:
    return [delivery.inbound.at_ms for delivery in done.history.trace.deliveries]


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_each_message_comes_some_seconds_after_the_answer_to_the_last(seed: int) -> None:
    done = run(TALK, _talks, seed=seed)
    assert done.verdict.verdict == "pass"
    assert _delivered_ms(done)[0] == 0
    for earlier, later in pairwise(_delivered_ms(done)):
        assert PAUSE_MS[0] <= later - earlier <= PAUSE_MS[1]
    assert _delivered_ms(done) == _delivered_ms(run(TALK, _talks, seed=seed))


def test_a_moment_that_the_scenario_names_is_kept() -> None:
    timed = InboxItem(text="Now.", when={"ms": 40_000})
    done = run(Scenario(name="a", inbox=(TALK.inbox[0], timed), script=TALK.script[:2]), _talks)
    assert _delivered_ms(done) == [0, 40_000]


def test_real_time_is_not_spent() -> None:
    done = run(TALK, _talks, world="supervise")
    assert done.verdict.verdict == "pass"
    assert done.history.events[-1].at_ms < 5 * PAUSE_MS[0]


def test_a_clock_in_the_system_text_is_seen() -> None:
    assert "append_only_prefix.system" in _codes(run(TALK, lambda b: _talks(b, clock=True)))


def test_a_deadline_that_begins_with_the_session_is_seen() -> None:
    done = run(TALK, lambda brief: _talks(brief, patience_s=20))
    assert "no_false_stop.unasked" in _codes(done)
