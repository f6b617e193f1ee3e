"""Whether a request that replaces a refused one still has anything of what was said before.

A compaction, a cut or an older message alone leaves some of it. What is looked for here is a past
that is gone as a whole, although a part of it had room.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harness.checks.evidence.carried_words import begins_or_ends, words_of
from harness.checks.evidence.excuses import Case
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import claimed, is_over_window
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Turn
from harness.core.values.messages import Text, side
from harness.core.values.verdict import Finding


def past_of_failed(history: History, before: Turn, turn: Turn) -> Iterator[Finding]:
    failed = [c for c in history.trace.compactions if c.turn is before]
    last = before.main[-1]
    if not failed or not all(c.failed for c in failed) or last.too_large or last.status == 413:
        return
    refused = [e.node.messages for e in before.main if e.too_large]
    if any(all(m.role != "assistant" for m in messages) for messages in refused):
        return  # a message that is too large alone leaves no room for a past
    first, now = before.readable[0], turn.readable[0]
    said_before = (m for m in first.node.messages if m.role == "assistant")
    told = {squeeze(s.request.text) for s in history.trace.sendings if claimed(s) != "completed"}
    past = [squeeze(b.text) for m in said_before for b in m.blocks if isinstance(b, Text)]
    past = [text for text in past if text not in told]
    system = str(history.values.get(now.request.system, ""))
    words = "".join([squeeze(system), *words_of(now.node)])
    # The agent's client may read a summary in a stream that the provider's own SDK refuses.
    read = [squeeze(c.calls[-1].reply.text) for c in failed if c.calls and c.calls[-1].reply]
    kept = (begins_or_ends(text, words) for text in (*past, *read) if text)
    if any(past) and not any(kept):
        text = f"{now.called.key}: a compaction failed in the turn before, and what was "
        text += "said before that is gone"
        yield Finding("history_faithful.forgotten_past", text, (first.n, failed[0].n, now.n))


def thrown_away(turn: Turn) -> Iterator[Case]:
    """Yield a case for each request that replaces a refused one and has nothing of its past."""
    if any(s.request.kind == "notice" or claimed(s) != "completed" for s in turn.sendings):
        return
    for before, later in pairwise(turn.readable):
        if before.succeeded or before.transient or not before.status:
            continue
        newest, words = before.node.newest(), "".join(words_of(later.node))
        old = (m for m in before.node.messages if side(m) != "system" and m not in newest)
        past = [said for m in old if (said := squeeze(m.text))]
        if len(past) < 2 or any(begins_or_ends(text, words) for text in past):
            continue
        is_large = before.too_large or is_over_window(before)
        if not is_large or _had_room(before, later, past[-1]):
            text = f"{later.called.key}: {before.called.key} was refused, and all that was said "
            text += "before this turn is gone"
            finding = Finding("history_faithful.forgotten_past", text, (before.n, later.n))
            yield Case("dropped" if is_large else "result", [finding], turn, later.n, before.n)


def _had_room(before: Exchange, later: Exchange, last: str) -> bool:
    """Whether half of what was too large had room for the last of the past, and no summary or note
    stands in its place."""
    old, new = words_of(before.node), words_of(later.node)
    is_half = 2 * (sum(map(len, new)) + len(last)) <= sum(map(len, old))
    return is_half and set(new) <= set(old)
