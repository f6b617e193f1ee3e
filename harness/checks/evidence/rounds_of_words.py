"""The words that the agents of one turn hand to each other, and where they go round.

An agent may work as several: two that talk, the steps of a workflow, a writer with a judge. Each of
them asks the model in its own conversation, so no single conversation shows that nothing new comes.
The turn with all of its sub-agents does. Tools are out of sight here: `checks/loops.py` asks
whether their results are new, so a call ends each series of words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterator
from itertools import pairwise

import msgspec

from harness.checks.evidence.polling import stretches
from harness.checks.evidence.stored_messages import newest_text, squeeze
from harness.checks.evidence.turn_outcomes import wrong
from harness.core.history.exchanges import Exchange
from harness.core.history.repetition import cycles, equal_runs, without_marks
from harness.core.history.trace import Trace, Turn, TurnName, children, root_turn

_PERIODS = (2, 3, 4, 5)
"""The lengths of a round, in answers. A round of one answer is one agent that talks to itself."""

_ALIKE = 0.5
"""Two answers with this share of their words in common are one answer, made again."""

_PAUSE_S = 5.0
"""The pause after which an agent that asks the same again is one that waits for something."""

_LEAST = 12
"""A shorter reply, such as "Yes.", may also be the user's own word."""

_WORD = re.compile(r"\w+")


def words_alone(exchange: Exchange) -> str:
    """The words of a whole answer without a call; "" for any other."""
    reply = exchange.reply
    if reply is None or not exchange.succeeded or wrong(exchange) or reply.tool_uses:
        return ""
    return reply.text.strip()


class Talk:
    """What the agents of one user's turn say, in order.

    `said` holds the whole answers. `breaks` counts, up to each of them, what comes from outside or
    brings something new: a call, a message of the user, a kill, a pause of the agent.
    """

    def __init__(self, trace: Trace, turn: Turn) -> None:
        asked = [e for e in turn.exchanges if e.purpose != "compact"]
        self.said = [e for e in asked if words_alone(e)]
        came = (d.n for d in (*turn.came, *turn.joined, *turn.waiting))
        calls = (e.n for e in asked if e.reply and e.reply.tool_uses)
        news = sorted((*calls, *came, *trace.kills))
        stretch = stretches(turn, _PAUSE_S)
        self.breaks = [(bisect_right(news, e.n), stretch(e.n)) for e in self.said]

    def rounds(self, repeats: int) -> Iterator[tuple[Exchange, ...]]:
        """The series of answers that come in a circle `repeats` times, with the one after them.

        In each round an answer is handed on. Without that, equal questions are samples.
        """
        keys = [(_asked(e), without_marks(words_alone(e))) for e in self.said]
        whole = list(zip(keys, self.breaks, strict=True))
        for period in _PERIODS:
            for at, length in cycles(whole, period, repeats):
                found = self.said[at : at + period * repeats + 1]
                first = pairwise(found[: period + 1])
                if length > period * repeats and any(reads(b, a) for a, b in first):
                    yield tuple(found)

    def verdicts(self, repeats: int) -> Iterator[tuple[Exchange, ...]]:
        """The judges' answers that are equal `repeats` times, with the answer made again after
        them."""
        keys, judged, place = list[Hashable | None](), list[int](), 0
        while place + 2 < len(self.said):
            keys.append(self._verdict(place))
            judged.append(place + 1)
            place += 1 if keys[-1] is None else 2
        for at, _ in equal_runs(keys, repeats):
            places = judged[at : at + repeats]
            if len({words_alone(self.said[p - 1]) for p in places}) == 1:
                continue  # a round of two, as `rounds` finds it
            yield (*(self.said[p] for p in places), self.said[places[-1] + 1])

    def _verdict(self, place: int) -> Hashable | None:
        """The verdict of a judge on the answer at a place, if nearly the same answer is made again
        after it; else None."""
        answer, judge, again = self.said[place : place + 3]
        lanes = [(e.called.session, e.called.purpose, e.request.system) for e in (answer, judge)]
        back = (again.called.session, again.called.purpose, again.request.system)
        # In one lane the three are a chat of one agent with its user, who may well say "again".
        if lanes[0] == lanes[1] or back != lanes[0]:
            return None
        if not (reads(judge, answer) and reads(again, judge) and _is_alike(answer, again)):
            return None
        asked = newest_text(again).replace(words_alone(answer), "#")
        return without_marks(words_alone(judge)), without_marks(asked), self.breaks[place]


def talks(trace: Trace) -> Iterator[Talk]:
    """The talk of each turn of the user, with the exchanges of all sub-agents that work for it."""
    family = children(trace)
    found: dict[TurnName, list[Exchange]] = {}
    for exchange in trace.exchanges:
        found.setdefault(root_turn(family, exchange.called), []).append(exchange)
    for name, exchanges in found.items():
        if (turn := trace.turns.get(name)) is not None:
            yield Talk(trace, msgspec.structs.replace(turn, exchanges=exchanges))


def echoes(trace: Trace) -> Iterator[list[Turn]]:
    """The series of turns of a session whose message is the agent's last reply, word for word."""
    streaks: dict[str, list[Turn]] = {}
    before: dict[str, Turn] = {}
    for turn in trace.turns.values():
        last = before.get(turn.session)
        before[turn.session] = turn
        if last is not None and _is_echo(trace, last, turn):
            streaks.setdefault(turn.session, []).append(turn)
        elif streak := streaks.pop(turn.session, None):
            yield streak
    yield from streaks.values()


def _is_echo(trace: Trace, last: Turn, turn: Turn) -> bool:
    said = squeeze(last.endings[-1].request.text) if last.endings else ""
    killed = any(last.opened_n < n < turn.opened_n for n in trace.kills)
    return len(said) >= _LEAST and said == squeeze(turn.text) and not killed


def _asked(exchange: Exchange) -> str:
    """What a request newly asks, without ids and times."""
    return without_marks(newest_text(exchange).strip())


def reads(later: Exchange, earlier: Exchange) -> bool:
    """Whether a request newly holds what an earlier answer says."""
    said = squeeze(words_alone(earlier))
    return any(said in squeeze(node.message.text) for node in later.added)


def _is_alike(answer: Exchange, again: Exchange) -> bool:
    """Whether two answers have most of their words in common, so that little is new."""
    one, other = (set(_WORD.findall(words_alone(e).lower())) for e in (answer, again))
    return len(one & other) >= _ALIKE * len(one | other)
