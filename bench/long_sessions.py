"""A session of any number of turns, played without a network: what the curves are measured on.

The agent keeps a window of 20 messages: when it is full, it says that it compacts, and goes on
from a summary. So a request has a bounded length, and the session is linear in its turns.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.core.history.history import History
from harness.core.scenario.scenario import InboxItem, Limits, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.calls import OutboxRequest, Received
from harness.core.values.draws import Draws
from harness.providers.anthropic.provider import AnthropicProvider

WINDOW = 20


def session(turns: int) -> History:
    """A session of a given number of turns."""
    script = (Turn(say="I see.", times="forever"),)
    inbox = tuple(InboxItem(text=f"message {n}") for n in range(turns))
    scenario = Scenario(name="long", inbox=inbox, script=script, limits=Limits.unreached())
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
