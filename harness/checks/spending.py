"""Spending without need: a summary of a short conversation, and turns that no user asked for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from harness.checks.declarations import needs
from harness.checks.evidence.carried_words import BYTES_PER_TOKEN
from harness.checks.evidence.turn_outcomes import (
    children,
    is_over_window,
    is_uncounted,
    root_turn,
    said_tokens,
)
from harness.core.history.events import Answered, Called
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Compaction, Trace
from harness.core.values.errors import InputError
from harness.core.values.verdict import Finding

_AS_LARGE = 0.95
"""A prompt that has kept more than this has not become smaller."""

_ASKED_FOR = re.compile(r"compact|summar|shorten", re.IGNORECASE)
"""Words by which a user asks for a summary himself."""


@needs("model", "inbox", told_by="run")
def compaction_due(
    history: History, *, share: float = 0.1, tokens: int = 1_000, rows: int = 20, useless: int = 2
) -> Iterator[Finding]:
    """A conversation is compacted when it is long, and only while that makes it shorter.

    `early`: the model is asked for a summary although the session's largest prompt, with what came
    since, is below `share` of the scenario's window, or below `tokens` where it has none. Counted
    is the larger of our count and of the answer's usage. `useless`: one more summary is asked for
    after `useless` in a row that left the prompt as large as it was, what came since set aside.
    Not meant: a session in which a request was refused for its size, in any shape; a list of `rows`
    messages or more, which an agent may count; a summary that the user asks for; a session that was
    seeded or taken up after a start, whose size no request has shown; a summary that is no request.
    A limit that was not configured had each "hi" compacted (anomalyco/opencode#31152). An agent
    mends it by comparing the size with the window of the model it asks, and by not doing again what
    has not helped. Source: invariant 16.
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
            text = f"the model is asked for a summary, and the conversation has {size} tokens; "
            text += f"below {least:g} it is short"
            yield Finding("compaction_due.early", text, (before.n, compaction.n))
    yield from _useless(trace, useless)


def _useless(trace: Trace, most: int) -> Iterator[Finding]:
    """Compactions behind `most` in a row that saved nothing."""
    in_a_row: dict[str, list[Compaction]] = {}
    for compaction in trace.compactions:
        if _ASKED_FOR.search(compaction.turn.text):
            continue
        earlier = in_a_row.setdefault(compaction.turn.session, [])
        if len(earlier) == most:
            text = f"the model is asked for a summary again, and the last {most} saved nothing"
            yield Finding("compaction_due.useless", text, (*(c.n for c in earlier), compaction.n))
        earlier.append(compaction)
        if not _saves_nothing(trace, compaction):
            earlier.clear()


def _saves_nothing(trace: Trace, compaction: Compaction) -> bool:
    """Whether the prompt behind a summary that came is as large as the one before it."""
    before, after = compaction.before, compaction.after
    if before is None or after is None or compaction.failed or not compaction.calls:
        return False
    sent = before.succeeded and after.succeeded and not (before.too_large or after.too_large)
    left = _counted(after) - _grown(trace, before.n, after.n)
    return sent and left >= _AS_LARGE * _counted(before)


def _is_seen_whole(trace: Trace, compaction: Compaction) -> bool:
    """Whether nothing but the size of the prompts can have told the agent to make it shorter."""
    if len(trace.starts) > 1 or _ASKED_FOR.search(compaction.turn.text):
        return False
    first = trace.deliveries[0].n if trace.deliveries else 0
    if any(event.added for event in trace.stored if event.n < first):
        return False
    session = compaction.turn.session
    asked = (e for e in trace.exchanges if e.n < compaction.n and e.called.session == session)
    return not any(e.too_large or is_over_window(e) or is_uncounted(e) for e in asked)


def _size(trace: Trace, before: Exchange, compaction: Compaction) -> int:
    """The tokens of the conversation: its largest prompt, and what came since the last one."""
    session = compaction.turn.session
    asked = [e for e in trace.exchanges if e.n <= before.n and e.called.session == session]
    return max(map(_counted, asked)) + _grown(trace, before.n, compaction.n)


def _grown(trace: Trace, since_n: int, n: int) -> int:
    """The tokens of what users and tools have said between two events."""
    came = [d.inbound.text for d in trace.deliveries if since_n < d.n < n]
    came += [run.text for run in trace.executions if since_n < run.n < n]
    return sum(len(text.encode("utf-8", "replace")) for text in came) // BYTES_PER_TOKEN


def _counted(exchange: Exchange) -> int:
    """The tokens of a prompt: by our count, or by the usage, which is larger."""
    return max(exchange.called.tokens, _used(exchange))


def _used(exchange: Exchange) -> int:
    """The tokens that the answer's usage counts."""
    usage = exchange.answered.usage if exchange.answered else {}
    return sum(count for count in usage.values() if isinstance(count, int))


@needs("model", "inbox", told_by="run")
def wake_budget(
    history: History,
    *,
    tokens: int = 1_000_000,
    woken: str = r"(?i)^\W*(?:heartbeat|cron|timer|wake[ -]?up|scheduled)\b",
) -> Iterator[Finding]:
    """Turns that wake themselves have a budget together, until a user writes again.

    `tokens`: the model is asked in a turn that a timer has begun, although such turns have cost
    more than so many tokens since the last message of a user, those of sub-agents included. A turn
    is woken when its message matches `woken`, in any session. The request that crosses the ceiling
    is no finding; the next one is, once.
    Not meant: a turn of a user, which `budget_ceiling` judges; a heartbeat that is answered without
    the model. Heartbeats sent the whole conversation each time, for 300 million
    tokens a day, while nobody was there (openclaw/openclaw#67308). An agent mends it by a small
    context for such turns, and by an end that is told. Source: invariant 18.
    """
    trace = history.trace
    try:
        pattern = re.compile(woken)
    except re.error as error:
        raise InputError(f"wake_budget: woken: {error}") from None
    family, spent, first_n, is_told = children(trace), 0, 0, False
    users = [
        d.n
        for d in trace.deliveries
        if d.inbound.text.strip() and not pattern.search(d.inbound.text)
    ]
    last_user = 0
    for event in history.events:
        if not isinstance(event, Called | Answered) or event.seam != "model":
            continue
        turn = trace.turns.get(root_turn(family, event))
        if turn is None or not pattern.search(turn.text):
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
