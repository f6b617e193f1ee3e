"""What an agent does with a message that comes while it works, as the probe `mid-turn` shows it.

Two messages come while a tool runs for 10 s. Only the order of the requests and replies behind them
tells the four policies apart: an agent names none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from harness.core.history.exchanges import Exchange
from harness.core.values.profile import InboundPolicy
from harness.doctor.probe import TARGETS, Observation, Probe, connection

Seen: TypeAlias = InboundPolicy | Literal[""] | None
"""The policy; "" if the agent takes a message only when its turn has ended; None if the probe does
not show it."""


def inbound_policy(probe: Probe) -> Seen:
    """Read the policy of an agent from the probe."""
    ran = next((run for run in probe.trace.executions if run.answered), None)
    came = {delivery.inbound.id: delivery for delivery in probe.trace.deliveries}
    if ran is None or "m2" not in came:
        return None
    if not ran.comes_after(ran.called.at_ms):
        return None  # a tool of the agent's own takes no time of the run, so nothing came in it
    if not ran.comes_after(probe.trace.events[came["m2"].n - 1].at_ms):
        return ""
    told = next((e for e in probe.main if _holds(e, came["m2"].inbound.text)), None)
    if told is None:
        return None
    if any(ran.n < exchange.n < told.n for exchange in probe.main):
        both = "m3" in came and _holds(told, came["m3"].inbound.text)
        return "collect" if both else "queue"
    # An interrupted turn may end with no reply, and its call has a result in the history too.
    ended = any(sent.ends_turn and sent.n < told.n for sent in probe.trace.sendings)
    stays = told.called.turn == ran.called.turn and not ran.comes_after(told.called.at_ms)
    return "steer" if stays and not ended else "interrupt"


def _holds(exchange: Exchange, text: str) -> bool:
    return any(text in message.text for message in exchange.node.messages)


_WORDS: Mapping[InboundPolicy, str] = {
    "queue": "wait for the end of the turn, and are answered one by one",
    "collect": "wait for the end of the turn, and are answered together",
    "steer": "reach the model in the turn in which they come",
    "interrupt": "end the turn in which they come",
}


def observation(seen: Seen) -> Observation:
    """The line of the report."""
    item, see = "messages in mid-turn", f"{TARGETS}#messages-in-mid-turn"
    if seen:
        return connection(item, "seen", f"{_WORDS[seen]}: {seen}")
    if seen is None:
        what = "no message came while a tool ran, or it did not reach the model"
        return connection(item, "not reached", what, see)
    return connection(item, "not seen", "takes no message before its turn has ended", see)
