"""What is wrong with a stored history, in words for the user.

The projection heals any history for the wire and says nothing, for it has to be a pure function of
the rows. But a user whose old messages the model cannot see should know it. So the damage is told,
once for each session and run, before the first answer. Rows of one role in a row are no damage: a
turn that failed leaves them, and nothing of them is lost. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.core.values.messages import Message, Text, Thinking, side

_WORDS = {
    "blank": "{n} stored without any content: left out",
    "foreign": "{n} of a role that a conversation has not got: left out",
    "early": "{n} from before the first question: left out",
    "orphan": "{n} with the result of a call that nobody made: the result was left out",
    "unanswered": "{n} with a call that never got a result: its outcome counts as unknown",
    "same_id": "{n} with a call whose id was used before: it got one of its own",
}
_SIDES = {"user": "user", "tool": "user", "assistant": "assistant"}


class Damage:
    """Tells what is new about damage, so that nobody is told anything twice."""

    def __init__(self) -> None:
        self._sessions: set[str] = set()
        self._told = 0

    def news(self, session: str, messages: Sequence[Message], notes: Sequence[str]) -> str:
        """What to say about a session whose history was loaded; "" when there is nothing.

        `notes` are the store's, on what it could not read.
        """
        new, self._told = list(notes[self._told :]), len(notes)
        if session not in self._sessions:
            self._sessions.add(session)
            new += found(messages)
        if not new:
            return ""
        return "The stored conversation is damaged, and I go on with the rest: " + "; ".join(new)


def found(messages: Sequence[Message]) -> list[str]:
    """The kinds of damage in a history, each with how many messages have it."""
    counts = _Counting()
    for message in messages:
        counts.see(message)
    counts.close()
    seen = ((counts.of[kind], words) for kind, words in _WORDS.items())
    return [words.format(n=_many(n)) for n, words in seen if n]


def _many(n: int) -> str:
    return "1 message" if n == 1 else f"{n} messages"


class _Counting:
    """One pass over a history."""

    def __init__(self) -> None:
        self.of: Counter[str] = Counter()
        self._side = ""
        self._open: Counter[str] = Counter()
        self._used: set[str] = set()

    def see(self, message: Message) -> None:
        """Take in the next message."""
        now = _SIDES.get(side(message), "")
        if not now:
            self.of["foreign"] += 1
        elif not _says(message):
            self.of["blank"] += 1
        elif not self._side and now == "assistant":
            self.of["early"] += 1
        else:
            self._speak(message, now)

    def _speak(self, message: Message, now: str) -> None:
        if now == "assistant" and self._side != now:
            self.close()
        self._side = now
        self.of.update(["same_id"] * any(c.id in self._used for c in message.tool_uses))
        for call in message.tool_uses:
            self._open[call.id] += 1
            self._used.add(call.id)
        orphan = False
        for result in message.tool_results:
            orphan |= not self._open[result.id]
            self._open[result.id] -= 1
        self.of.update(["orphan"] * orphan)

    def close(self) -> None:
        """No more results can come for the calls so far."""
        self.of.update(["unanswered"] * any(n > 0 for n in self._open.values()))
        self._open.clear()


def _says(message: Message) -> bool:
    """Whether a message has more than thinking and white space."""
    return any(
        not isinstance(b, Thinking) and not (isinstance(b, Text) and not b.text.strip())
        for b in message.blocks
    )
