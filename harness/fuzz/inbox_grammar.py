"""Generates inbound traffic: messages, redeliveries, cancels and disconnects.

Each message is one number; a smaller number is a more ordinary message. The texts of all messages
stand here, plain ones first, for shrinking. They are equal, nested or odd in characters, to test
code that identifies messages by text. One quotes a provider's refusal of a long prompt; from a user
or a model it is plain text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from harness.core.scenario.scenario import InboxItem
from harness.core.values.calls import InboundKind
from harness.core.values.messages import Json
from harness.fuzz.choice_sequence import Choose, some

When: TypeAlias = Literal["start", "idle"] | dict[str, Json]

WORDS = (
    "hello",
    "Yes.",
    "hello again",
    "yes",
    "What is my name?",
    "naïve 日本 🙂",
    "two\n\nparagraphs",
    'q"\\ <&> \u2028 \x7f',
    "hello\n\nYes.",
    "word " * 60,
    "It said: prompt is too long: 208380 tokens > 200000 maximum",
)

UNEVEN = "x" + "🙂" * 60
"""A cut at a round number of bytes or of UTF-16 units splits a character."""

BLANKS = ("", " \n\t")
"""Texts of blanks alone, which the API refuses."""

TEXTS = (*WORDS, *BLANKS)
SESSIONS = ("main", "main", "side")

FIRST_ANSWER: dict[str, Json] = {"after": "model#1"}

LATER: dict[str, Json] = {"ms": 700}

TIMES: tuple[When, ...] = (*("idle",) * 5, "start", {"ms": 0}, LATER, FIRST_ANSWER)
"""When a message comes: with no turn open, or in the middle of one. Each moment is certain
to come, because a message that cannot be delivered is a mistake of the scenario."""

REPEATED = 4
"""How many messages back a redelivered message may be."""

CANCELS: tuple[tuple[InboundKind, str, When], ...] = (
    ("cancel", "main", FIRST_ANSWER),
    ("cancel", "main", LATER),
    ("cancel", "side", FIRST_ANSWER),
    ("disconnect", "main", FIRST_ANSWER),
)
"""The ways to cancel a turn: what, in which session, and when."""


def word(number: int) -> str:
    """Return the text of a number, modulo the number of texts."""
    return WORDS[number % len(WORDS)]


def inbox_of(
    choose: Choose,
    max_messages: int = 5,
    *,
    bursts: bool = True,
    cancels: bool = True,
    is_answered: bool = True,
) -> tuple[InboxItem, ...]:
    """Return one message or more; from the second on, some are odd or redelivered.

    `bursts`: also in the middle of a turn. `cancels`: users also cancel turns. `is_answered`: the
    model is certainly asked, so a message may wait for its first answer.
    """
    times = _certain(TIMES, is_answered) if bursts else TIMES[:1]
    texts, again = len(TEXTS) * len(SESSIONS) * len(times), REPEATED * len(times) * 4
    kinds = texts + again + (len(CANCELS) * 8 if cancels else 0)
    items = [InboxItem(id="m1", text=WORDS[choose(len(WORDS))])]
    for place, kind in enumerate(some(choose, kinds, max_messages - 1, mean=2), start=2):
        if kind < texts:
            items.append(_message(f"m{place}", kind, times))
        elif kind < texts + again:
            items.append(_again(items, kind - texts, times))
        else:
            items.append(_cancel(f"m{place}", kind - texts - again, is_answered))
    return tuple(items)


def _certain(times: Sequence[When], is_answered: bool) -> tuple[When, ...]:
    """Return the moments that are certain to come, with a time in place of the others."""
    return tuple(LATER if t is FIRST_ANSWER and not is_answered else t for t in times)


def _message(name: str, number: int, times: Sequence[When]) -> InboxItem:
    number, text = divmod(number, len(TEXTS))
    when, session = divmod(number, len(SESSIONS))
    return InboxItem(id=name, text=TEXTS[text], session=SESSIONS[session], when=times[when])


def _again(items: Sequence[InboxItem], number: int, times: Sequence[When]) -> InboxItem:
    """Return one of the last messages, word for word."""
    said = [item for item in items if item.kind == "message"]
    when, back = divmod(number, REPEATED)
    return msgspec.structs.replace(said[-1 - back % len(said)], when=times[when % len(times)])


def _cancel(name: str, number: int, is_answered: bool) -> InboxItem:
    kind, session, when = CANCELS[number % len(CANCELS)]
    (moment,) = _certain((when,), is_answered)
    return InboxItem(id=name, kind=kind, session=session, when=moment)
