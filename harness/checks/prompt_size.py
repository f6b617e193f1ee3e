"""The context window: the agent shortens a request that is too large, by a compaction.

A summary must keep open calls, the message that the turn answers, and standing rules. A failed
summary must lose nothing, and its retries are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harness.checks.declarations import counted_anew, excused_by, needs
from harness.checks.evidence.carried_words import (
    BYTES_PER_TOKEN,
    PROMPT_TOKENS,
    carried,
    leaves_out,
    words_of,
)
from harness.checks.evidence.excuses import KILL_BETWEEN, Case, is_killed_between, may_begin_again
from harness.checks.evidence.stored_messages import settled_list, squeeze, stands
from harness.checks.evidence.turn_outcomes import (
    FINAL_STOPS,
    TRUNCATED_STOPS,
    fails_for_good,
    failure_words,
    is_uncounted,
    wrong,
)
from harness.core.history.event_log import Named
from harness.core.history.exchanges import Ask, Exchange
from harness.core.history.history import History
from harness.core.history.trace import Compaction, Trace, Turn
from harness.core.values.messages import Json, canonical, side
from harness.core.values.verdict import Finding

_BETA = "anthropic-beta"


@needs("model", "inbox", told_by="run")
@counted_anew("a kill")
def request_fits(history: History) -> Iterator[Finding]:
    """A request that is too large is sent once in a turn; what follows it is smaller.

    Too large is what the dialect's rules of size refuse (V23 and V24: the window; V26 and V27:
    images), a 413, and "prompt is too long" as an error in a stream, as a stop reason or as a
    wrapper's own message. `again`: a later main request of that turn has neither fewer tokens nor
    fewer bytes, and nothing came of the turn in between. Where the reply may be what does not fit,
    a lower `max_tokens` is smaller too. `result`: a second turn ends with the refusal of a request
    that holds a single result of a tool larger than the scenario's window.

    Not a finding: the same conversation for a model or with a beta whose window is another one;
    what grows after a request that succeeded; a retry by the SDK; the step that was under way when
    the agent was killed, begun once more; a new turn; a part of the conversation with a longer
    prompt around it, which is smaller than any real window.

    An agent that knows one shape of the refusal pays for each of the others, and its conversation
    is stuck. An agent mends it by treating all shapes alike: make the request smaller, look whether
    it is, else say so; and by a cap on what a tool may say. Source: invariant 7; gptme/gptme#185.
    """
    for turn in history.trace.turns.values():
        yield from _in_a_turn(history.trace, turn)
    yield from _results_over_the_window(history.trace)


def _results_over_the_window(trace: Trace) -> Iterator[Finding]:
    """Results that fit into no request, and end several turns of a session; each once."""
    window = trace.settings.get("window_tokens")
    if not isinstance(window, int):
        return
    ended: dict[tuple[str, str, int], list[Exchange]] = {}
    for turn in trace.turns.values():
        last = turn.readable[-1] if turn.readable else None
        if last is None or not last.too_large:
            continue
        for result in (r for message in last.node.messages for r in message.tool_results):
            size = len(result.text.encode("utf-8", "replace"))
            if size > window * BYTES_PER_TOKEN:
                ended.setdefault((turn.session, result.id, size), []).append(last)
    for (_, _, size), (first, *later) in ended.items():
        if later:
            text = f"{later[0].called.key} holds a result of {size} bytes, which alone is larger "
            text += f"than the window of {window} tokens, and ends its turn like one before"
            yield Finding("request_fits.result", text, (first.n, later[0].n))


def _in_a_turn(trace: Trace, turn: Turn) -> Iterator[Finding]:
    refused: Exchange | None = None
    is_told = False
    for exchange in turn.main:
        # The excuse changes what the next request is compared with, so no filter can apply it.
        if refused is not None and may_begin_again(trace, turn, refused, exchange):
            refused, is_told = None, False
        if refused is not None and not exchange.called.sdk_retry:
            if _is_smaller(exchange, refused):
                is_told = False
            elif not is_told:
                is_told = True
                yield _no_smaller(refused, exchange)
        if exchange.too_large:
            refused = exchange
        elif exchange.succeeded:
            refused, is_told = None, False


def _no_smaller(refused: Exchange, exchange: Exchange) -> Finding:
    text = f"{exchange.called.key} is no smaller than {refused.called.key}, which was too large: "
    text += f"{_measures(refused)} before, {_measures(exchange)} after"
    return Finding("request_fits.again", text, (refused.n, exchange.n))


def _measures(exchange: Exchange) -> str:
    return f"{exchange.called.tokens} tokens and {exchange.called.bytes} bytes"


def _is_smaller(exchange: Exchange, refused: Exchange) -> bool:
    now, then = exchange.called, refused.called
    if now.tokens < then.tokens or now.bytes < then.bytes:
        return True
    if _asks_another_window(exchange, refused) or _leaves_more_room(exchange, refused):
        return True
    return now.tokens - then.tokens <= PROMPT_TOKENS and leaves_out(refused, exchange)


def _asks_another_window(exchange: Exchange, refused: Exchange) -> bool:
    now, then = exchange.request, refused.request
    return now.model != then.model or now.headers.get(_BETA) != then.headers.get(_BETA)


def _leaves_more_room(exchange: Exchange, refused: Exchange) -> bool:
    """Whether less is asked for, where the reply may have been too much."""
    if "V23" in refused.called.refused or refused.status == 413:
        return False
    now, then = exchange.request.max_tokens, refused.request.max_tokens
    return now is not None and then is not None and now < then


_PROMPT_RULE = "V23"
"""The prompt alone is over the window. V24 counts the room for the reply, which an agent of a tiny
window has not got however short its prompt is."""

_BEGINNING = 40
"""So many characters of a message stand in the next request, even if an agent cuts it short."""

_HALF = 0.5
"""A summary of so much of a conversation is made in parts."""

_KEPT = 0.8
"""So many of the words of a system text are still there, whatever else it tells meanwhile."""


@needs("model", "inbox", told_by="run")
def compaction_preserves(history: History) -> Iterator[Finding]:
    """A compaction keeps what is under way, and one that fails changes nothing.

    `too_large`: the prompt for a summary is over the window, and more than half of what was to be
    made shorter. Half is the measure because not every refusal says how small the window is. The
    other rules look at the next main request of the turn. `open_call`: a call of the model that had
    no result yet is gone. `last_message`: the message that the turn answers is gone. `rules`: words
    of the system text are gone. `failed`: the summary was empty or never came, the request before
    was not refused, and what stood in it is changed all the same. That a compact request is well
    formed is asked by `valid_request` and the checks of its form.

    Not a finding: a long message that is cut short; calls with a result; a prompt that must become
    smaller somehow because it was refused; a recording, in which requests are inferred.

    An agent mends it by summarising only what lies before the turn that is going on. It takes a
    summary for its history only once it is known to be one. Source: invariant 17;
    earendil-works/pi#4570.
    """
    for compaction in history.trace.compactions:
        yield from _too_large(compaction)
        after = compaction.gone_on
        if after is not None:
            yield from _open_calls(compaction, after)
            yield from _last_message(compaction, after)
            yield from _rules(compaction, after, history.values)
            yield from _after_failure(compaction, after)


def _too_large(compaction: Compaction) -> Iterator[Finding]:
    before = compaction.before
    for call in compaction.calls:
        if _PROMPT_RULE in call.called.refused and (before is None or _is_long(call, before)):
            text = f"{call.called.key} asks for a summary and is itself too long"
            yield Finding("compaction_preserves.too_large", text, (call.n,))


def _is_long(call: Exchange, before: Exchange) -> bool:
    """Whether it is as long as half of the conversation because it carries half of it: the prompt
    for a summary may outweigh a conversation of a few words."""
    return 2 * call.size > before.size and carried(before.node, call.node) > _HALF


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


def _after_failure(compaction: Compaction, after: Exchange) -> Iterator[Finding]:
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


@needs("model", told_by="run")
@counted_anew("a kill")
@excused_by(larger=(KILL_BETWEEN,), again=(KILL_BETWEEN,))
def compaction_progress(
    history: History, *, ratio: float = 0.8, most: int = 2
) -> Iterator[Finding | Case]:
    """A compaction makes the prompt smaller, or it is not tried again in that turn.

    One fails when its call brings no summary, or when the agent's notice has the status "failed".
    `repeated`: tried again after one that failed, or after which the prompt was still refused.
    `ratio`: tried again although the last one left more than `ratio` of the prompt. `larger`: what
    is sent after one that did not fail is no smaller than what was refused. `unusable`: the next
    request tells the summary although it was cut off or refused, or is the error message of a
    wrapper, which counts no token. `too_many`: more than `most` without a successful main answer
    between them.

    Not a finding: a compaction that was under way when the agent was killed, and begins again.
    Source: invariant 16.
    """
    trace = history.trace
    in_turns: dict[int, list[Compaction]] = {}
    for compaction in history.trace.compactions:
        if compaction.after is not None:
            end_n = compaction.after.n
            yield Case("larger", _larger(compaction), compaction.turn, end_n, compaction.n)
        yield from _unusable(compaction)
        in_turns.setdefault(id(compaction.turn), []).append(compaction)
    for compactions in in_turns.values():
        for first, second in pairwise(compactions):
            yield Case("again", _again(first, second, ratio), second.turn, second.n, first.n)
        # A count: what a kill cut off must not be in it, so it is taken out before.
        whole = [c for c in compactions if not _is_killed(trace, c)]
        yield from _too_many(compactions[0].turn, whole, most)


def _is_killed(trace: Trace, compaction: Compaction) -> bool:
    """Whether the agent was killed before it could go on with what the compaction had left."""
    end_n = compaction.after.n if compaction.after else trace.events[-1].n
    return is_killed_between(trace, compaction.n, end_n)


def _larger(compaction: Compaction) -> Iterator[Finding]:
    """The request after a summary, when it replaces one of the turn that the provider refused."""
    before, after = compaction.before, compaction.gone_on
    if before is None or after is None or compaction.failed or not fails_for_good(before):
        return
    if before.size and after.size >= before.size and not _is_outweighed(compaction, before, after):
        text = f"the compaction at event {compaction.n} makes the prompt no smaller: "
        text += f"{before.size} before, {after.size} after"
        yield Finding("compaction_progress.larger", text, (before.n, compaction.n, after.n))


def _is_outweighed(compaction: Compaction, before: Exchange, after: Exchange) -> bool:
    """Whether the conversation became shorter, its summary included, and only the agent's own words
    around it are longer."""
    if not compaction.calls or after.size - before.size > PROMPT_TOKENS:
        return False
    said = compaction.calls[-1].reply
    summary = len(squeeze(said.text)) if said else 0
    gone = (1 - carried(before.node, after.node)) * sum(map(len, words_of(before.node)))
    return leaves_out(before, after) and summary < gone


def _unusable(compaction: Compaction) -> Iterator[Finding]:
    """A summary that is not whole, and is used."""
    last, after = compaction.calls[-1] if compaction.calls else None, compaction.after
    if last is None or after is None or last.reply is None:
        return
    said = last.reply.text.strip()
    is_error = wrong(last) == "synthetic"
    if said and (is_error or last.stop in TRUNCATED_STOPS | FINAL_STOPS) and _says(after, said):
        how = "is an error message that counts no token" if is_error else failure_words(last)
        text = f"the summary at event {compaction.n} {how}, and is used"
        yield Finding("compaction_progress.unusable", text, (last.n, after.n))


def _says(exchange: Exchange, text: str) -> bool:
    return any(text in message.text for message in exchange.node.messages)


def _again(first: Compaction, second: Compaction, ratio: float) -> Iterator[Finding]:
    after = first.after
    events = (first.n, *((after.n,) if after else ()), second.n)
    fits = _shrinks(first, ratio)
    if first.failed or (after is not None and not after.succeeded and not after.transient):
        what = "failed" if first.failed else "was not enough"
        text = f"the compaction at event {first.n} {what}, and is tried again in the same turn"
        yield Finding("compaction_progress.repeated", text, events)
    elif not fits:
        text = f"the compaction at event {first.n} leaves more than {ratio:.0%} of the prompt, "
        text += "and is tried again in the same turn"
        yield Finding("compaction_progress.ratio", text, events)


def _shrinks(compaction: Compaction, ratio: float) -> bool:
    """Whether the request after it is small enough; True where sizes are not known."""
    before, after = compaction.before, compaction.after
    if before is None or after is None or not before.size or not after.size:
        return True
    return after.size <= ratio * before.size


def _too_many(turn: Turn, compactions: list[Compaction], most: int) -> Iterator[Finding]:
    successes = [e.n for e in turn.main if e.succeeded]
    streak: list[int] = []
    for compaction in compactions:
        if streak and any(streak[-1] < n < compaction.n for n in successes):
            streak = []
        streak.append(compaction.n)
        if len(streak) == most + 1:
            text = f"more than {most} compactions without a successful answer between them"
            yield Finding("compaction_progress.too_many", text, tuple(streak))
