"""Whether a turn gets on: bounded, not sending again what must fail again, compacting to effect."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harness.checks.begun import is_killed_between
from harness.checks.evidence.answers import (
    FINAL_STOPS,
    TRUNCATED_STOPS,
    fails_for_good,
    failure_words,
)
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Compaction, Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding


@needs("model")
def compaction_progress(
    history: History, *, ratio: float = 0.8, most: int = 2
) -> Iterator[Finding]:
    """A compaction makes the prompt smaller, or it is not tried again in that turn.

    One fails when its call brings no summary, or when the agent's notice has the status "failed".
    `repeated`: tried again after one that failed, or after which the prompt was still refused.
    `ratio`: tried again although the last one left more than `ratio` of the prompt. `larger`: what
    is sent after one that did not fail is no smaller than what was refused. `unusable`: the next
    request tells the summary although it was cut off or refused. `too_many`: more than `most`
    without a successful main answer between them. Not meant: a compaction that was under way when
    the agent was killed, and begins again. Source: invariant 16.
    """
    trace = history.trace
    in_turns: dict[int, list[Compaction]] = {}
    for compaction in history.trace.compactions:
        if not _is_killed(trace, compaction):
            yield from _larger(compaction)
        yield from _unusable(compaction)
        in_turns.setdefault(id(compaction.turn), []).append(compaction)
    for compactions in in_turns.values():
        for first, second in pairwise(compactions):
            if not is_killed_between(trace, first.n, second.n):
                yield from _again(first, second, ratio)
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
    if before.size and after.size >= before.size:
        text = f"the compaction at event {compaction.n} makes the prompt no smaller: "
        text += f"{before.size} before, {after.size} after"
        yield Finding("compaction_progress.larger", text, (before.n, compaction.n, after.n))


def _unusable(compaction: Compaction) -> Iterator[Finding]:
    """A summary that is not whole, and is used."""
    last, after = compaction.calls[-1] if compaction.calls else None, compaction.after
    if last is None or after is None or last.reply is None:
        return
    said = last.reply.text.strip()
    if said and last.stop in TRUNCATED_STOPS | FINAL_STOPS and _says(after, said):
        text = f"the summary at event {compaction.n} {failure_words(last)}, and is used"
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
