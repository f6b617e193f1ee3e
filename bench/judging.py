"""How long judging takes as a session grows: 100, 1,000 and 10,000 turns.

The agent keeps a window of 200 messages: when it is full, it says that it compacts,
and goes on from a summary. All checks together read a history in time that is linear in its length,
so ten times the turns take ten times as long; the figure is the time per turn as a ratio of that of
the session before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec

from bench.figure import Figure
from harness.checks.judge import judge
from harness.core.history.history import History
from harness.core.scenario.scenario import InboxItem, Limits, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.calls import OutboxRequest, Received
from harness.core.values.draws import Draws
from harness.providers.anthropic.provider import AnthropicProvider

SIZES = (100, 1_000, 10_000)
WINDOW = 200
MOST = 1.5
NO_LIMIT = 1 << 40


def session(turns: int) -> History:
    """A session of so many turns."""
    limits = Limits(model_calls=NO_LIMIT, outbox_calls=NO_LIMIT, inbox_calls=NO_LIMIT)
    script = (Turn(say="I see.", times="forever"),)
    inbox = tuple(InboxItem(text=f"message {n}") for n in range(turns))
    scenario = Scenario(name="long", inbox=inbox, script=script, limits=limits)
    history = History()
    run = Transition(scenario, AnthropicProvider(), TurnScript(script, Draws(0)), history)
    history.started(
        run="long", scenario="long", world="simulate", seams=("model", "inbox", "outbox")
    )
    messages: list[dict[str, Any]] = []
    for n in range(turns):
        _turn(run, messages, n)
    run.next_inbound(turns)
    history.ended(at_ms=turns, how="returned", exit_code=0)
    return history


def _turn(run: Transition, messages: list[dict[str, Any]], n: int) -> None:
    run.next_inbound(n)
    if len(messages) >= WINDOW:
        run.outbox(OutboxRequest("compaction", "I sum up what was said."), n)
        messages[:] = [{"role": "user", "content": f"Summary of {n} messages."}, messages[-1]]
    messages.append({"role": "user", "content": f"message {n}"})
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    run.model(Received("/v1/messages", {}, msgspec.json.encode(body), n))
    messages.append({"role": "assistant", "content": "I see."})
    run.outbox(OutboxRequest("final", "I see.", f"m{n + 1}", "ok"), n)


def figures(rounds: int) -> Iterator[Figure]:
    """The growth of the time per turn, and the longest session's judging in seconds."""
    before_us = 0.0
    for turns in SIZES:
        spent_s = min(_judged_s(turns) for _ in range(rounds if turns < SIZES[-1] else 1))
        per_turn_us = spent_s / turns * 1e6
        if before_us:
            name = f"judging {turns:,} turns, per turn"
            beside = f"of {before_us:4.0f} us a turn"
            yield Figure(name, per_turn_us / before_us, MOST, beside=beside)
        before_us = per_turn_us


def _judged_s(turns: int) -> float:
    history = session(turns)
    began = time.perf_counter()
    judge(history)
    return time.perf_counter() - began
