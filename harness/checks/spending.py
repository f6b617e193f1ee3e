"""Unneeded summaries, missing summaries, and turns that no user started."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec

from harness.checks.evidence.carried_words import BYTES_PER_TOKEN, carried
from harness.checks.evidence.declarations import needs
from harness.checks.evidence.turn_outcomes import claimed, is_over_window, is_uncounted, said_tokens
from harness.core.history.events import Answered, Called
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Compaction, Trace, Turn, children, root_turn
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, canonical
from harness.core.values.patterns import is_in, pattern_of
from harness.core.values.verdict import Finding

NEARLY_ALL = 0.8
"""A summary that keeps more than this share of the words frees no room."""

FEW = 4
"""The number of messages below which a summary is not useful."""

_ASKED_FOR = re.compile(r"compact|summar|shorten", re.IGNORECASE)
"""Words of a user's request for a summary."""

SHORT_BYTES = 600
"""A message of this size has no text that an agent could make much shorter."""


@needs("model", "inbox", told_by="run", place=200)
def compaction_due(
    history: History, *, share: float = 0.1, tokens: int = 1_000, rows: int = 20, turns: int = 3
) -> Iterator[Finding]:
    """A conversation is compacted when it is long, not at its beginning and not in each turn.

    `early`: the model is asked for a summary although the session is small. Its largest prompt and
    the messages since are below `share` of the scenario's window, or below `tokens` without a
    window. The size is the larger of our count and the answer's usage. `every_turn`: in `turns`
    turns in a row, the model is asked for a summary without a refusal as a reason. The next request
    still carries nearly the whole conversation, or its usage is nearly as large. `missed`: the last
    request of a failed turn is the first one over the window. The agent does not make it smaller,
    although it compacts elsewhere in the run.

    Not a finding: a session with a request that was refused for its size, in any form; a list of
    `rows` messages or more, because an agent may count messages; a summary that the user asks for;
    a seeded or resumed session, whose size no request has shown; a summary without a request; an
    agent that never compacts, or whose compaction does not help; for `missed`, a request of which
    more than half is its last step; a turn of many short steps with little before it, unless the
    agent has compacted a turn with nothing before it. Many agents sum up only what came before.

    Because a limit was not configured, each "hi" was compacted (anomalyco/opencode#31152). To fix
    it, compare the size with the window of the model in use. Source: invariant 16.
    """
    trace = history.trace
    window = trace.settings.get("window_tokens")
    least = share * window if isinstance(window, int) else tokens
    for compaction in trace.compactions:
        before = compaction.before
        if before is None or not compaction.calls or not _is_seen_whole(trace, compaction):
            continue
        size = _size(trace, before, compaction)
        if size < least and before.node.depth < rows:
            text = f"a summary is asked for after {before.called.key}, where the conversation has "
            text += f"{size} tokens; below {least:.0f} it is short"
            yield Finding("compaction_due.early", text, (before.n, compaction.n))
    yield from _every_turn(trace, turns)
    yield from _missed(trace)


def _every_turn(trace: Trace, most: int) -> Iterator[Finding]:
    """Yield a finding for a series of turns of a session, each with a summary that frees no
    room."""
    in_vain: dict[tuple[str, int], bool] = {}
    for compaction in trace.compactions:
        place = (compaction.turn.session, compaction.turn.number)
        in_vain[place] = in_vain.get(place, True) and _makes_no_room(trace, compaction)
    for (session, number), makes_no_room in in_vain.items():
        row = [(session, number - back) for back in range(most)]
        if makes_no_room and all(in_vain.get(place) for place in row[1:]):
            before = in_vain.get((session, number - most))
            if not before:
                asked = [c for c in trace.compactions if (session, c.turn.number) in row]
                text = f"a summary is asked for in {most} turns in a row, and frees no room"
                yield Finding("compaction_due.every_turn", text, tuple(c.n for c in asked))


def _makes_no_room(trace: Trace, compaction: Compaction) -> bool:
    """Whether a summary between two turns keeps nearly all of the conversation."""
    before, after, turn = compaction.before, compaction.after, compaction.turn
    if before is None or after is None or not any(c.succeeded for c in compaction.calls[-1:]):
        return False
    if _ASKED_FOR.search(turn.text) or before.called.turn == after.called.turn:
        return False
    if any(e.too_large or is_over_window(e) or is_uncounted(e) for e in (before, *turn.main)):
        return False
    if before.node.depth <= 1:
        return False
    # What the provider counts decides: the tools or a wrong estimate may be what is large.
    return carried(before.node, after.node) > NEARLY_ALL or _frees_nothing(before, after)


def _frees_nothing(before: Exchange, after: Exchange) -> bool:
    """Whether the answers' usage says that a request is nearly as large as the one before."""
    return 0 < NEARLY_ALL * _used(before) < _used(after)


def _could_shrink(refused: Exchange) -> bool:
    """Whether half of a request, or more, stands before its last step: what a summary replaces. An
    agent that keeps the last step can make no other request fit."""
    older = list(refused.node.messages)
    while older and older.pop().role != "assistant":
        pass
    return refused.node.depth >= FEW and 2 * _bytes_of(older) >= refused.called.bytes


def _missed(trace: Trace) -> Iterator[Finding]:
    """Yield the turns that end at the window, for an agent that does compact elsewhere."""
    for turn in trace.turns.values():
        # An answer may name another rule that the request breaks, and nothing of its size.
        refused = next((e for e in turn.main if is_over_window(e) and e.too_large), None)
        if refused is None or turn.main[-1] is not refused or not _could_shrink(refused):
            continue
        ended = next((s for s in turn.endings if s.n > refused.n), None)
        if ended is None or turn.cancelled_n or claimed(ended) == "completed":
            continue
        if ended.called.at_ms < refused.ended_ms:
            continue  # the refusal had not arrived when the agent gave up
        own = [c for c in trace.compactions if c.calls and not _ASKED_FOR.search(c.turn.text)]
        steps = [m for m in refused.node.messages if m.role != "system"]
        # Only results can be cut: the API takes thoughts and calls as they are, or not at all.
        is_short = all(_bytes_of([m]) < SHORT_BYTES for m in steps if m.tool_results)
        if is_short and 2 * _past_bytes(turn) < _bytes_of(steps):
            own = [c for c in own if not _has_past(trace, c.turn)]
        if own and not any(refused.n < c.n < ended.n for c in trace.compactions):
            text = f"{refused.called.key} is over the window and ends the turn; the agent compacts "
            text += f"at event {own[0].n}, and not here"
            yield Finding("compaction_due.missed", text, (refused.n, ended.n, own[0].n))


def _has_past(trace: Trace, turn: Turn) -> bool:
    """Whether something stands before a turn: in its first request, or in the store. An agent may
    sum up blank rows and thoughts, which no request shows."""
    looks = (look for look in trace.stored if look.n < turn.opened_n)
    stored = any(row.session in ("", turn.session) for look in looks for row in look.added)
    return stored or bool(_past_bytes(turn))


def _past_bytes(turn: Turn) -> int:
    """The size of what the first request of a turn holds before the newest message."""
    first = next(iter(turn.readable), None)
    past = [m for m in first.node.messages if m.role != "system"][:-1] if first else []
    return _bytes_of(past)


def _bytes_of(messages: Iterable[Message]) -> int:
    return sum(len(canonical(msgspec.to_builtins(message))) for message in messages)


def _is_seen_whole(trace: Trace, compaction: Compaction) -> bool:
    """Whether the size of the prompts is the only possible reason for the compaction."""
    if len(trace.starts) > 1 or _ASKED_FOR.search(compaction.turn.text):
        return False
    first = trace.deliveries[0].n if trace.deliveries else 0
    if any(event.added for event in trace.stored if event.n < first):
        return False
    session = compaction.turn.session
    asked = (e for e in trace.exchanges if e.n < compaction.n and e.called.session == session)
    return not any(e.too_large or is_over_window(e) or is_uncounted(e) for e in asked)


def _size(trace: Trace, before: Exchange, compaction: Compaction) -> int:
    """The tokens of the conversation: its largest prompt, and the messages since the last
    prompt."""
    session = compaction.turn.session
    asked = [e for e in trace.exchanges if e.n <= before.n and e.called.session == session]
    came = [d.inbound.text for d in trace.deliveries if before.n < d.n < compaction.n]
    came += [run.text for run in trace.executions if before.n < run.n < compaction.n]
    grown = sum(len(text.encode("utf-8", "replace")) for text in came) // BYTES_PER_TOKEN
    return max(max(e.called.tokens, _used(e)) for e in asked) + grown


def _used(exchange: Exchange) -> int:
    """The tokens that the answer's usage counts."""
    usage = exchange.answered.usage if exchange.answered else {}
    return sum(count for count in usage.values() if isinstance(count, int))


WOKEN = r"(?i)^\W*(?:heartbeat|cron|timer|wake[ -]?up|scheduled)\b"
"""The beginning of a message that a timer sends."""

_WOKEN = re.compile(WOKEN)


def woken_by(woken: str) -> Callable[[str], object]:
    """What tells a woken message. Raises ValueError for no pattern, EndlessPattern in a search.

    Our own pattern repeats nothing, so its search needs no limit.
    """
    return _WOKEN.match if woken == WOKEN else partial(is_in, pattern_of(woken))


@needs("model", "inbox", told_by="run", place=270)
def wake_budget(
    history: History, *, tokens: int = 1_000_000, woken: str = WOKEN
) -> Iterator[Finding]:
    """Turns that the agent starts itself share one budget, until a user writes again.

    `tokens`: the model is called in a turn that a timer started, although such turns have used more
    than `tokens` tokens. The cost counts from the last message of a user, and includes sub-agents.
    A turn is woken when its message matches `woken`, in any session. The request that crosses the
    ceiling is not a finding; the next one is, once.

    Not a finding: a turn of a user, which `budget_ceiling` judges; a heartbeat that is answered
    without the model.

    Heartbeats sent the whole conversation each time and used 300 million tokens a day, without a
    user (openclaw/openclaw#67308). To fix it, use a small context for such turns, and report when
    the budget ends them. Source: invariant 18.
    """
    trace = history.trace
    try:
        is_woken = woken_by(woken)
    except ValueError as error:
        raise InputError(f"wake_budget: woken: {error}") from None
    family, spent, first_n, is_told = children(trace), 0, 0, False
    said = ((d.n, d.inbound.text) for d in trace.deliveries)
    users = [n for n, text in said if text.strip() and not is_woken(text)]
    last_user = 0
    for event in history.events:
        if not isinstance(event, Called | Answered) or event.seam != "model":
            continue
        turn = trace.turns.get(root_turn(family, event))
        if turn is None or not is_woken(turn.text):
            continue
        if bisect_left(users, event.n) != last_user:
            last_user, spent, first_n, is_told = bisect_left(users, event.n), 0, 0, False
        first_n = first_n or event.n
        if isinstance(event, Answered):
            spent += said_tokens(event)
        else:
            if spent > tokens and not is_told:
                is_told = True
                text = f"{event.key} asks the model, and turns that woke themselves have spent "
                text += f"{spent} tokens since a user wrote"
                yield Finding("wake_budget.tokens", text, (first_n, event.n))
            spent += event.tokens
