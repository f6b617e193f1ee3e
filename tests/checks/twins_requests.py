"""Slow twins of the checks of requests and retries: each asks one exchange at a time, from scratch.

A twin tells which exchanges are wrong, and by which rule; it looks at whole lists and at all that
came before, and remembers nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.values.messages import Message, Text, ToolResult, side

Wrong = set[tuple[str, int]]
"""Rules and the events of the requests that break them."""


def _asked(history: History) -> Iterator[tuple[Exchange, list[Message]]]:
    for exchange in history.trace.exchanges:
        if exchange.purpose != "aux" and not exchange.called.refused:
            yield exchange, [m for m in exchange.node.messages if side(m) != "system"]


def tool_pairing(history: History) -> Wrong:
    """Calls and results of each turn of the assistant, compared."""
    wrong: Wrong = set()
    for exchange, messages in _asked(history):
        made, found = set[str](), set[str]()
        previous = ""
        for message in [*messages, None]:
            begins = message is not None and side(message) == "assistant"
            at_end = message is None and previous != "assistant"
            if (begins and previous != "assistant") or at_end:
                wrong |= {("tool_pairing.unanswered", exchange.n)} if made - found else set()
                made, found = set(), set()
            if message is None:
                break
            made |= {use.id for use in message.tool_uses} if begins else set()
            results = set() if begins else {r.id for r in message.tool_results}
            wrong |= {("tool_pairing.orphan", exchange.n)} if results - made else set()
            found, previous = found | results, side(message)
    return wrong


def unique_tool_ids(history: History) -> Wrong:
    """The ids of each list, counted."""
    wrong: Wrong = set()
    for exchange, messages in _asked(history):
        uses = [use.id for message in messages for use in message.tool_uses]
        if "" in uses:
            wrong.add(("unique_tool_ids.empty", exchange.n))
        if any(times > 1 for id_, times in Counter(uses).items() if id_):
            wrong.add(("unique_tool_ids.repeated", exchange.n))
        if any(_has_results_too_many(messages[: end + 1]) for end in range(len(messages))):
            wrong.add(("unique_tool_ids.two_results", exchange.n))
    return wrong


def _has_results_too_many(messages: Sequence[Message]) -> bool:
    """Whether the last message answers an id that is answered already, and as often as called."""
    uses = Counter(use.id for message in messages for use in message.tool_uses)
    results = Counter(result.id for message in messages for result in message.tool_results)
    last = {result.id for result in messages[-1].tool_results if result.id}
    return any(results[id_] > max(1, uses[id_]) for id_ in last)


def nonblank_content(history: History, results: bool) -> Wrong:
    """Every message and every text of each list."""
    wrong: Wrong = set()
    for exchange, _ in _asked(history):
        messages = exchange.node.messages
        for place, message in enumerate(messages):
            last = place == len(messages) - 1 and side(message) == "assistant"
            if not message.blocks and not last:
                wrong.add(("nonblank_content.empty", exchange.n))
            texts = [b.text for b in message.blocks if isinstance(b, Text)]
            texts = [text for text in texts if text or not message.tool_uses]
            texts += [b.text for b in message.blocks if results and isinstance(b, ToolResult)]
            if any(text.strip() == "" for text in texts):
                wrong.add(("nonblank_content.blank", exchange.n))
    return wrong


def wellformed_text(history: History) -> Wrong:
    """Every text of each list and of each row, encoded."""
    wrong: Wrong = set()
    for exchange in history.trace.exchanges:
        if any(map(_is_broken, exchange.node.messages)):
            wrong.add(("wellformed_text.request", exchange.n))
    for event in history.trace.stored:
        for row in (*event.added, *event.changed):
            if _is_broken(history.messages[row.digest]):
                wrong.add(("wellformed_text.row", event.n))
    return wrong


def _is_broken(message: Message) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in str(_texts(msgspec.to_builtins(message))))


def _texts(value: object) -> str:
    if isinstance(value, dict):
        return "".join(map(_texts, value.values()))
    if isinstance(value, list | tuple):
        return "".join(map(_texts, value))
    return value if isinstance(value, str) else ""


def ends_with_user(history: History) -> Wrong:
    """The last message of each main request, and the last answer before it that was whole; what
    was sent back once may be sent back again."""
    wrong: Wrong = set()
    sent_back: dict[str, list[Message]] = {}
    told = [e for e in history.trace.exchanges if e.purpose == "main"]
    for place, exchange in enumerate(told):
        said = [e for e in told[:place] if e.called.session == exchange.called.session]
        whole = [e for e in said if e.succeeded and not e.too_large]
        paused = bool(whole) and whole[-1].stop in ("pause_turn", "compaction")
        last = [m for m in exchange.node.messages if side(m) != "system"][-1:]
        ends = bool(last) and side(last[0]) == "assistant" and not exchange.called.refused
        messages = list(exchange.node.messages)
        again = sent_back.get(exchange.called.session) == messages
        if ends and paused:
            sent_back[exchange.called.session] = messages
        elif ends and not again:
            wrong.add(("ends_with_user.assistant", exchange.n))
    return wrong


def request_fits(history: History) -> Wrong:
    """Each main request, and the last one before it that was too large or brought something."""
    wrong: Wrong = set()
    for turn in history.trace.turns.values():
        for place, exchange in enumerate(turn.main):
            settled = [e for e in turn.main[:place] if e.too_large or e.succeeded]
            if not settled or not settled[-1].too_large or exchange.called.sdk_retry:
                continue
            if exchange.called.tokens >= settled[-1].called.tokens:
                wrong.add(("request_fits.again", exchange.n))
    return wrong


def retry_budget(history: History, attempts: int, most: int) -> Wrong:
    """Each exchange, and how often the same request failed before."""
    wrong: Wrong = set()
    for turn in history.trace.turns.values():
        failed = 0
        for place, exchange in enumerate(turn.exchanges):
            same = _same(turn.exchanges[: place + 1], exchange)
            done = [n for n, e in enumerate(same[:-1]) if e.succeeded]
            if len(same[(done[-1] + 1 if done else 0) :]) > attempts and not exchange.succeeded:
                wrong.add(("retry_budget.request", exchange.n))
            failed += not exchange.succeeded
            if failed > most and not exchange.succeeded:
                wrong.add(("retry_budget.turn", exchange.n))
    return wrong


def _same(exchanges: Sequence[Exchange], exchange: Exchange) -> list[Exchange]:
    return [e for e in exchanges if (e.purpose, e.content) == (exchange.purpose, exchange.content)]


def backoff(history: History, flat_gaps: int) -> Wrong:
    """Each exchange, the waits before it, and what the answers between them asked for."""
    wrong: Wrong = set()
    for turn in history.trace.turns.values():
        for place, exchange in enumerate(turn.exchanges):
            waits = list(_waits(_same(turn.exchanges[: place + 1], exchange)))
            if not waits:
                continue
            wait_ms, asked_ms = waits[-1]
            if asked_ms > 120_000:
                wrong.add(("backoff.above_cap", exchange.n))
            elif wait_ms + 10 < asked_ms:
                wrong.add(("backoff.before_retry_after", exchange.n))
            elif wait_ms < 100 and (not asked_ms or wait_ms < asked_ms):
                wrong.add(("backoff.too_soon", exchange.n))
            row = waits[-flat_gaps:]
            free = len(row) == flat_gaps and not any(asked or wait >= 8000 for wait, asked in row)
            if free and not [wait for wait, _ in row if wait > 1.25 * row[0][0]]:
                wrong.add(("backoff.flat", exchange.n))
    return wrong


def _waits(same: list[Exchange]) -> Iterator[tuple[int, float]]:
    """The waits of the last streak of failures, with what the answers asked for; milliseconds."""
    streak: list[tuple[int, float]] = []
    for before, after in pairwise(same):
        failed = before.answered is not None and not before.succeeded
        if not failed or not before.transient or (before.status or 500) < 400:
            streak = []
            continue
        asked = before.answered.retry_after if before.answered else ""
        streak.append((after.called.at_ms - before.called.at_ms, float(asked or 0) * 1000))
    return iter(streak)
