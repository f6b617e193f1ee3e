"""The context window: the agent shortens a request that is too large, by a compaction.

A summary must keep open calls, the message that the turn answers, and standing rules. A failed
summary must lose nothing, and its retries are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, zip_longest

from harness.checks.evidence.carried_words import (
    BYTES_PER_TOKEN,
    PROMPT_TOKENS,
    carried,
    is_held,
    leaves_out,
    system_text,
    words_said,
)
from harness.checks.evidence.declarations import counted_anew, excused_by, needs
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
from harness.core.values.messages import Json, canonical
from harness.core.values.verdict import Finding

_BETA = "anthropic-beta"


@needs("model", "inbox", told_by="run", place=190)
@counted_anew("a kill")
def request_fits(history: History) -> Iterator[Finding]:
    """A request that is too large is sent once in a turn; the next request is smaller.

    A request is too large if the dialect's rules of size refuse it (V23 and V24: the window; V26
    and V27: images). Too large are also a 413, and "prompt is too long" as an error in a stream, a
    stop reason or a wrapper's message. `again`: a later main request of that turn has neither fewer
    tokens nor fewer bytes, and no request succeeded in between. If the reply may be too large for
    the window, a lower `max_tokens` counts as smaller too. `result`: for the second time, a turn
    ends with a refusal, and the request holds a single tool result larger than the scenario's
    window.

    Not a finding: the same conversation for a model or a beta with another window; a request that
    grows after a success; a retry by the SDK; a step that a kill interrupted and the agent repeats;
    a new turn; a part of the conversation with a longer prompt around it, if that prompt fits any
    real window.

    An agent that knows only one form of the refusal is stuck on the other forms. To fix it, treat
    all forms alike: make the request smaller, compare its size, and report a failure if it is not
    smaller. Also cap the size of tool results. Source: invariant 7; gptme/gptme#185.
    """
    for turn in history.trace.turns.values():
        yield from _in_a_turn(history.trace, turn)
    yield from _results_over_the_window(history.trace)


def _results_over_the_window(trace: Trace) -> Iterator[Finding]:
    """Yield each result that fits into no request and ends several turns of a session."""
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
        # The excuse changes the request to compare with, so no filter can apply it. An agent may
        # also have gone on before the refusal arrived.
        if refused is not None and (
            refused.ended_ms > exchange.called.at_ms
            or may_begin_again(trace, turn, refused, exchange)
        ):
            refused, is_told = None, False
        if refused is not None and not exchange.called.sdk_retry:
            if _is_smaller(exchange, refused):
                is_told = False
            elif not is_told:
                is_told = True
                yield _no_smaller(refused, exchange)
        if exchange.too_large and (exchange.reply is None or not exchange.reply.tool_uses):
            refused = exchange  # words beside a call need not be a refusal
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
    """Whether `max_tokens` is lower, in a case where the reply may have been too large."""
    if "V23" in refused.called.refused or refused.status == 413:
        return False
    now, then = exchange.request.max_tokens, refused.request.max_tokens
    return now is not None and then is not None and now < then


_PROMPT_RULE = "V23"
"""The prompt alone is over the window. V24 counts the room for the reply too, and a tiny window may
lack that room for any prompt."""

_BEGINNING = 40
"""The number of characters of a message that the next request keeps, even if an agent shortens
it."""

_HALF = 0.5
"""The share of a conversation above which an agent must summarise in parts."""

_KEPT = 0.8
"""The share of the system text's words that must be left; the text may change otherwise."""


@needs("model", "inbox", told_by="run", place=250)
def compaction_preserves(history: History) -> Iterator[Finding]:
    """A compaction keeps the work in progress, and a failed compaction changes nothing.

    `too_large`: the prompt for a summary is over the window, and more than half as long as the
    conversation. The limit is half, because not every refusal states the size of the window. The
    other rules look at the next main request of the turn. `open_call`: a call of the model that had
    no result yet is gone. `last_message`: the message that the turn answers is gone. `rules`: words
    of the system text are gone. `failed`: the summary was empty or never arrived, the request
    before was not refused, and its messages are changed all the same. `valid_request` and the
    checks of form judge the form of a compact request.

    Not a finding: a long message that is cut short; calls with a result; a refused prompt that must
    become smaller, or is made again with less; a recording, in which requests are inferred.

    To fix it, summarise only the turns before the current one. Replace the history only after a
    check that the summary is one. Source: invariant 17; earendil-works/pi#4570.
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
    for call, later in zip_longest(compaction.calls, compaction.calls[1:]):
        if later is not None and later.size < call.size:
            continue  # it goes on with less
        if _PROMPT_RULE in call.called.refused and (before is None or _is_long(call, before)):
            text = f"{call.called.key} asks for a summary and is itself too long"
            yield Finding("compaction_preserves.too_large", text, (call.n,))


def _is_long(call: Exchange, before: Exchange) -> bool:
    """Whether a compact request is long because it carries half of the conversation. The prompt for
    a summary alone may be longer than a conversation of a few words."""
    return 2 * call.size > before.size and carried(before.node, call.node) > _HALF


def _open_calls(compaction: Compaction, after: Exchange) -> Iterator[Finding]:
    still_open = [ask for ask in compaction.turn.asks if _is_open(ask, compaction)]
    if not still_open:
        return
    uses = [use for message in after.node.messages for use in message.tool_uses]
    kept = {use.id for use in uses} | {(use.name, canonical(use.input)) for use in uses}
    for ask in still_open:
        if not {ask.use.id, (ask.use.name, canonical(ask.use.input))} & kept:
            text = f"{after.called.key}: the call {ask.use.id} of {ask.use.name} had no result "
            text += "yet, and is gone after the compaction"
            events = (ask.exchange.n, compaction.n, after.n)
            yield Finding("compaction_preserves.open_call", text, events)


def _is_open(ask: Ask, compaction: Compaction) -> bool:
    """Whether a whole answer made a call before the compaction, and no request had its result then.

    A call that the next request does not hold is not open. Its answer was dropped for its stop
    reason, or a kill came first. A call in an answer that refuses the request is not open either.
    """
    made_n, n = ask.exchange.n, compaction.n
    is_answered = ask.exchange.succeeded and not ask.exchange.too_large
    if not is_answered or made_n >= n or 0 < ask.sent_n < n:
        return False
    later = next((e for e in compaction.turn.main if made_n < e.n < n), None)
    return later is None or any(
        use.id == ask.use.id  # an older call of the session may have the same id
        for node in later.node.tail(ask.exchange.node)
        for use in node.message.tool_uses
    )


def _last_message(compaction: Compaction, after: Exchange) -> Iterator[Finding]:
    turn = compaction.turn
    said = squeeze(turn.text)
    if turn.delivery is None or not said or turn.delivery.n > compaction.n:
        return
    texts = [squeeze(m.text) for m in after.node.messages if m.role == "user"]
    if not any(said[:_BEGINNING] in text or is_held(turn.text, text) for text in texts):
        text = f"{after.called.key}: the message of {turn.words} is gone "
        text += "after the compaction"
        events = (turn.delivery.n, compaction.n, after.n)
        yield Finding("compaction_preserves.last_message", text, events)


def _rules(compaction: Compaction, after: Exchange, values: Named[Json]) -> Iterator[Finding]:
    before = compaction.before
    if before is None:
        return
    words = set(system_text(before, values).split())
    left = words & set(system_text(after, values).split())
    if len(left) < _KEPT * len(words):
        lost = f"{len(words) - len(left)} of {len(words)} words of the system text are"
        text = f"{after.called.key}: {lost if left else 'the system text is'} gone after the "
        text += "compaction"
        events = (before.n, compaction.n, after.n)
        yield Finding("compaction_preserves.rules", text, events)


def _after_failure(compaction: Compaction, after: Exchange) -> Iterator[Finding]:
    before = compaction.before
    if before is None or not compaction.failed or not before.succeeded:
        return
    if is_uncounted(before) or before.too_large:  # refused, but not with an error status
        return
    if not stands(settled_list(before.node), after.node):
        text = f"the compaction at event {compaction.n} failed, and {after.called.key} begins "
        text += f"differently from {before.called.key} all the same"
        events = (before.n, compaction.n, after.n)
        yield Finding("compaction_preserves.failed", text, events)


@needs("model", told_by="run", place=180)
@counted_anew("a kill")
@excused_by(larger=(KILL_BETWEEN,), again=(KILL_BETWEEN,))
def compaction_progress(
    history: History, *, ratio: float = 0.8, most: int = 2
) -> Iterator[Finding | Case]:
    """A compaction makes the prompt smaller, or it is not tried again in that turn.

    A compaction fails if its call brings no summary, or if the agent's notice has the status
    "failed". `repeated`: a compaction is tried again after one that failed, or after which the
    prompt was still refused. `ratio`: it is tried again although the last one left more than
    `ratio` of the prompt. `larger`: the request after a successful compaction is no smaller than
    the refused request. `unusable`: the next request uses a summary that was cut off or refused, or
    a wrapper's error message without a token count. `too_many`: more than `most` compactions
    without a successful main answer between them.

    Not a finding: a compaction that a kill stopped, and that begins again; a smaller request for a
    summary after one that was too large. Source: invariant 16.
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
        # A compaction whose result a kill took from the agent must not count, so it goes first.
        ends = ((c, c.after.n if c.after else trace.events[-1].n) for c in compactions)
        whole = [c for c, end_n in ends if not is_killed_between(trace, c.n, end_n)]
        yield from _too_many(compactions[0].turn, whole, most)


def _larger(compaction: Compaction) -> Iterator[Finding]:
    """Compare the request after a summary with the refused request of the turn that it replaces."""
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
    gone = (1 - carried(before.node, after.node)) * sum(map(len, words_said(before.node)))
    return leaves_out(before, after) and summary < gone


def _unusable(compaction: Compaction) -> Iterator[Finding]:
    """Yield each incomplete summary that is used."""
    last, after = compaction.calls[-1] if compaction.calls else None, compaction.after
    if last is None or after is None or last.reply is None:
        return
    said = last.reply.text.strip()
    is_error = wrong(last) == "synthetic"
    is_bad = is_error or last.stop in TRUNCATED_STOPS | FINAL_STOPS
    # An older summary that stays may begin with the same words, and so may the past that it is of.
    known = {m.text for m in compaction.before.node.messages} if compaction.before else set()
    new = (m.text for m in after.node.messages if m.text not in known)
    is_old = any(said in text for text in last.texts)
    # Claude Code lets the model go on behind a summary that its length has cut.
    goes_on = after.node.first(last.node.depth) is last.node
    if said and is_bad and not (is_old or goes_on) and any(said in text for text in new):
        how = "is an error message that counts no token" if is_error else failure_words(last)
        text = f"the summary at event {compaction.n} {how}, and is used"
        yield Finding("compaction_progress.unusable", text, (last.n, after.n))


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
    """Whether the request after a compaction is small enough; True if sizes are unknown."""
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
