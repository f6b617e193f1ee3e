"""Whether a compaction keeps what the turn cannot go on without.

A summary may leave out nearly everything, but not what is under way: the calls that wait for their
results, the words that the turn answers, and the rules that hold in every request. And one that
failed is no reason to lose anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.answers import is_uncounted
from harness.checks.evidence.message_lists import settled_list, squeeze, stands
from harness.core.history.event_log import Named
from harness.core.history.exchanges import Ask, Exchange
from harness.core.history.history import History
from harness.core.history.trace import Compaction
from harness.core.transition.ports import needs
from harness.core.values.messages import Json, canonical, side
from harness.core.values.verdict import Finding

_PROMPT_RULE = "V23"
"""The prompt alone is over the window. V24 counts the room for the reply, which an agent of a tiny
window has not got however short its prompt is."""

_BEGINNING = 40
"""So many characters of a message stand in the next request, even if an agent cuts it short."""

_KEPT = 0.8
"""So many of the words of a system text are still there, whatever else it tells meanwhile."""


@needs("model", "inbox")
def compaction_preserves(history: History) -> Iterator[Finding]:
    """A compaction keeps what is under way, and one that fails changes nothing.

    `too_large`: the prompt for a summary is over the window, and more than half of what was to be
    made shorter, for not every refusal says how small the window is. Then, in the next main request
    of the turn: `open_call`: a call of the model that had no result yet is gone. `last_message`:
    the message that the turn answers is gone. `rules`: words of the system text are gone. `failed`:
    the summary was empty or never came, the request before was not refused, and what stood in it is
    changed all the same. That a compact request is well formed is asked by `valid_request` and the
    checks of its form. Not meant: a long message that is cut short, calls with a result, a prompt
    that must become smaller somehow because it was refused, and a recording, in which requests are
    inferred. An agent mends it by summarising only what lies before the turn that is going on, and
    by taking a summary for its history only once it is known to be one. Source: invariant 17;
    earendil-works/pi#4570.
    """
    if history.trace.world == "recording":
        return
    for compaction in history.trace.compactions:
        yield from _too_large(compaction)
        after = compaction.gone_on
        if after is not None:
            yield from _open_calls(compaction, after)
            yield from _last_message(compaction, after)
            yield from _rules(compaction, after, history.values)
            yield from _failed(compaction, after)


def _too_large(compaction: Compaction) -> Iterator[Finding]:
    before = compaction.before
    for call in compaction.calls:
        is_long = before is None or 2 * call.size > before.size
        if _PROMPT_RULE in call.called.refused and is_long:
            text = f"{call.called.key} asks for a summary and is itself too long"
            yield Finding("compaction_preserves.too_large", text, (call.n,))


def _open_calls(compaction: Compaction, after: Exchange) -> Iterator[Finding]:
    still_open = [ask for ask in compaction.turn.asks if _is_open(ask, compaction)]
    if not still_open:
        return
    uses = [use for message in after.node.messages for use in message.tool_uses]
    kept = {use.id for use in uses} | {(use.name, canonical(use.input)) for use in uses}
    for ask in still_open:
        if not {ask.use.id, (ask.use.name, canonical(ask.use.input))} & kept:
            text = (
                f"{after.called.key}: the call {ask.use.id} of {ask.use.name} had no result yet, "
            )
            text += "and is gone after the compaction"
            events = (ask.exchange.n, compaction.n, after.n)
            yield Finding("compaction_preserves.open_call", text, events)


def _is_open(ask: Ask, compaction: Compaction) -> bool:
    """Whether a whole answer made a call before the compaction, and no request had its result then.

    A call that the next request does not hold is not open: its answer was not taken, for its stop
    reason, or because a kill came first. Nor is one in an answer that refuses the request.
    """
    made_n, n = ask.exchange.n, compaction.n
    is_answered = ask.exchange.succeeded and not ask.exchange.too_large
    if not is_answered or made_n >= n or 0 < ask.sent_n < n:
        return False
    later = next((e for e in compaction.turn.main if made_n < e.n < n), None)
    return later is None or any(
        use.id == ask.use.id for message in later.node.messages for use in message.tool_uses
    )


def _last_message(compaction: Compaction, after: Exchange) -> Iterator[Finding]:
    turn = compaction.turn
    said = squeeze(turn.text)[:_BEGINNING]
    if turn.delivery is None or not said or turn.delivery.n > compaction.n:
        return
    texts = (m.text for m in after.node.messages if m.role == "user")
    if not any(said in squeeze(text) for text in texts):
        text = f"{after.called.key}: the message of turn {turn.number} of {turn.session} is gone "
        text += "after the compaction"
        events = (turn.delivery.n, compaction.n, after.n)
        yield Finding("compaction_preserves.last_message", text, events)


def _rules(compaction: Compaction, after: Exchange, values: Named[Json]) -> Iterator[Finding]:
    before = compaction.before
    if before is None:
        return
    words = set(_system_text(before, values).split())
    left = words & set(_system_text(after, values).split())
    if len(left) < _KEPT * len(words):
        text = f"{after.called.key}: {len(words) - len(left)} of {len(words)} words of the system "
        text += "text are gone after the compaction"
        events = (before.n, compaction.n, after.n)
        yield Finding("compaction_preserves.rules", text, events)


def _system_text(exchange: Exchange, values: Named[Json]) -> str:
    """The rules of a request, which some wires put into its messages."""
    pinned = (m.text for m in exchange.node.messages if side(m) == "system")
    return "\n".join([str(values.get(exchange.request.system, "")), *pinned])


def _failed(compaction: Compaction, after: Exchange) -> Iterator[Finding]:
    before = compaction.before
    if before is None or not compaction.failed or not before.succeeded:
        return
    if is_uncounted(before) or before.too_large:  # refused, in a shape that is no error
        return
    if not stands(settled_list(before.node), after.node):
        text = f"the compaction at event {compaction.n} failed, and {after.called.key} begins "
        text += f"otherwise than {before.called.key} all the same"
        events = (before.n, compaction.n, after.n)
        yield Finding("compaction_preserves.failed", text, events)
