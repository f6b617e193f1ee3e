"""What the probes show of an agent's behaviour, which is always judged.

Each observation has the findings that the judge made in the same run.

The probe `mid-turn` shows what an agent does with a message that comes while it works.
Two messages come while a tool runs for 10 s. Only the order of the requests and replies behind them
tells the four policies apart: an agent names none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias

from harness.core.history.exchanges import Exchange
from harness.core.values.profile import InboundPolicy
from harness.core.values.verdict import Finding
from harness.core.values.visible_text import duration
from harness.doctor.connections import follows, refused
from harness.doctor.probe import SCENARIO, TARGETS, Observation, Probe, State, connection

Seen = tuple[State, str]


def behaviour(probes: Mapping[str, Probe]) -> Iterator[Observation]:
    """Yield what is seen of each behaviour, in the order of the report."""
    for item, probe, look, checks in _LOOKS:
        played = probes.get(probe)
        if played is None:
            continue
        state, what = look(played) if played.requests else ("not reached", "no request was made")
        yield Observation(
            part="behaviour",
            item=item,
            state=state,
            what=what,
            see=_SEE.get(item, "") if state == "not reached" else "",
            findings=tuple(dict.fromkeys(map(_named, played.findings_of(*checks, "target")))),
        )


def _named(finding: Finding) -> str:
    return f"{finding.code} ({finding.class_})" if finding.class_ else finding.code


def _remembers(probe: Probe) -> Seen:
    turns = [turn.main for turn in probe.trace.turns.values() if turn.main]
    if len(turns) < 2:
        return "not reached", "the second message brought no request"
    later, first = turns[1][0], probe.trace.deliveries[0].inbound.text
    said = "\n".join(message.text for message in later.node.messages)
    if later.request.stateful or first in said:
        return "seen", "the second message's request holds the first message"
    return "not seen", "the second message's request does not hold the first message"


def _overload(probe: Probe) -> Seen:
    return _again(probe, "a 529")


def _broken(probe: Probe) -> Seen:
    return _again(probe, "an answer that breaks off")


def _again(probe: Probe, what: str) -> Seen:
    failed = next((n for n, e in enumerate(probe.requests) if not e.succeeded), None)
    if failed is None:
        return "not reached", f"no request met {what}"
    later: list[Exchange] = probe.requests[failed + 1 :]
    if later:
        wait_s = (later[0].called.at_ms - probe.requests[failed].ended_ms) / 1000
        return "seen", f"asks again after {what}, {duration(round(wait_s, 1))} later"
    return "not seen", f"no second request after {what}; {_told(probe)}"


def _told(probe: Probe) -> str:
    kinds = [s.request.kind for s in probe.trace.sendings if s.ends_turn]
    return f"the user gets {'an error' if kinds[-1] == 'error' else 'a final'}" if kinds else (
        "the user is told nothing"
    )  # fmt: skip


def _delivers(probe: Probe) -> Seen:
    sent = [s for s in probe.trace.sendings if s.request.kind in ("final", "error", "partial")]
    lost = next((s for s in sent if s.answered and not s.answered.complete), None)
    if lost is None:
        return "not reached", "no delivery failed: the agent sent nothing"
    again = any(s.ends_turn and s.request.text == lost.request.text for s in sent)
    if again:
        return "seen", "sends a reply again after its delivery failed"
    return "not seen", "does not send a reply again after its delivery failed"


def _deduplicates(probe: Probe) -> Seen:
    if len(probe.trace.deliveries) < 2:
        return "not reached", "the message came once only"
    if len(probe.endings) > 1:
        return "not seen", "answers a message twice that came twice under one id"
    return "seen", "answers a message once that came twice under one id"


def _cancels(probe: Probe) -> Seen:
    if "cancel" not in probe.touched:
        return "not reached", "the agent never asks whether the user has cancelled"
    if probe.findings_of("cancel_honoured"):
        return "not seen", "goes on after the user has cancelled"
    return "seen", "stops after the user has cancelled"


def _recovers(probe: Probe) -> Seen:
    begun = refused(probe)
    if begun is None:
        return "not reached", "no request was refused as too long"
    if any(e.succeeded and follows(e, begun) for e in probe.main):
        return "seen", "answers after a request was refused as too long"
    return "not seen", f"does not answer after the refusal; {_told(probe)}"


def _resumes(probe: Probe) -> Seen:
    if len(probe.trace.starts) < 2:
        return "not reached", "the agent was not started again"
    begun = probe.trace.starts[1].n
    text = probe.trace.deliveries[0].inbound.text if probe.trace.deliveries else ""
    after = [e for e in probe.main if e.n > begun]
    if text and any(text in m.text for e in after for m in e.node.messages):
        return "seen", "asks again for the interrupted message after a kill"
    told = [s for s in probe.trace.sendings if s.ends_turn and s.n > begun]
    if told:
        return "seen", f"tells the user after a kill: {told[0].request.kind}"
    return "not seen", "says nothing of the interrupted message after a kill"


_Look = Callable[[Probe], Seen]

_LOOKS: tuple[tuple[str, str, _Look, tuple[str, ...]], ...] = (
    ("history", "conversation", _remembers, ("history_faithful",)),
    ("deduplication", "redelivered", _deduplicates, ("inbound_exactly_once", "outbound_once")),
    ("cancel honoured", "cancel", _cancels, ("cancel_honoured", "outbound_once")),
    ("retry of a 529", "overload", _overload, ("retry_budget", "backoff", "truthful_outcome")),
    (
        "retry of a broken answer",
        "broken-answer",
        _broken,
        ("stream_error_handled", "truthful_outcome", "retry_budget"),
    ),
    ("retry of a delivery", "delivery", _delivers, ("outbound_once",)),
    (
        "recovery when too long",
        "too-long",
        _recovers,
        ("no_blind_resend", "compaction_progress", "request_fits", "truthful_outcome"),
    ),
    ("resumption", "restart", _resumes, ("no_silent_loss", "inbound_exactly_once")),
)
"""Each behaviour: its probe, what to look for, and the checks that judge it."""

_SEE = {
    "cancel honoured": f"{TARGETS}#the-brief-member-by-member",
    "retry of a delivery": f"{TARGETS}#the-brief-member-by-member",
    "resumption": f"{SCENARIO}#faults",
}
"""Where the docs tell how a probe reaches the behaviour."""


SeenPolicy: TypeAlias = InboundPolicy | Literal[""] | None
"""The policy; "" if the agent takes a message only when its turn has ended; None if the probe does
not show it."""


def inbound_policy(probe: Probe) -> SeenPolicy:
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


def observation(seen: SeenPolicy) -> Observation:
    """The line of the report."""
    item, see = "messages in mid-turn", f"{TARGETS}#messages-in-mid-turn"
    if seen:
        return connection(item, "seen", f"{_WORDS[seen]}: {seen}")
    if seen is None:
        what = "no message came while a tool ran, or it did not reach the model"
        return connection(item, "not reached", what, see)
    return connection(item, "not seen", "takes no message before its turn has ended", see)
