"""Generates inbound traffic: messages, redeliveries, cancels and disconnects.

Each message is one number; a smaller number is a more ordinary message. Sessions may have names
that become alike once they are cleaned, and a message of one may have the id of another one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from harness.core.scenario.scenario import InboxItem
from harness.core.values.calls import InboundKind
from harness.core.values.messages import Json
from harness.fuzz.choice_sequence import Choose, some
from harness.fuzz.text_grammar import TEXTS, WORDS

When: TypeAlias = Literal["start", "idle"] | dict[str, Json]

SESSIONS = (*("main",) * 4, *("side",) * 3, "Main", "ma /in", "\uff4d\uff41\uff49\uff4e")
"""The last three become `main` where case is folded, signs go, or Unicode forms are made equal."""

FIRST_ANSWER: dict[str, Json] = {"after": "model#1"}

LATER: dict[str, Json] = {"ms": 700}

SECONDS_MS, HOURS_MS = 5_000, 5 * 3_600_000
"""Each message comes so much later than the one before, by its place in the inbox."""

TIMES: tuple[When, ...] = (
    *("idle", "idle", *({"ms": SECONDS_MS},) * 5, {"ms": HOURS_MS}),
    *("start", {"ms": 0}, LATER, FIRST_ANSWER),
)
"""When a message comes: with no turn open, after a while, or in the middle of a turn. Each moment
is certain to come, because a message that cannot be delivered is a mistake of the scenario."""

MID_TURN: tuple[When, ...] = ("idle", "idle", "idle", *(FIRST_ANSWER,) * 4, {"ms": 0}, LATER)
"""The same for an agent that is given messages while it works: mostly in the middle of a turn."""

REPEATED = 4
"""How many messages back a redelivered message may be."""

CANCELS: tuple[tuple[InboundKind, str, When], ...] = (
    ("cancel", "main", FIRST_ANSWER),
    ("cancel", "main", LATER),
    ("cancel", "side", FIRST_ANSWER),
    ("disconnect", "main", FIRST_ANSWER),
)
"""The ways to cancel a turn: what, in which session, and when."""

CANCEL_WEIGHT = 80
"""How often a cancel is drawn, relative to a message of one text, session and time: one in ten."""


def inbox_of(
    choose: Choose,
    max_messages: int = 5,
    *,
    bursts: bool = True,
    cancels: bool = True,
    is_answered: bool = True,
    pushed: bool = False,
) -> tuple[InboxItem, ...]:
    """Return one message or more; from the second on, some are odd or redelivered.

    `bursts`: also in the middle of a turn. `cancels`: users also cancel turns. `is_answered`: the
    model is certainly asked, so a message may wait for its first answer. `pushed`: the agent is
    given messages while it works.
    """
    times = _certain(MID_TURN if pushed else TIMES, is_answered) if bursts else TIMES[:1]
    texts, again = len(TEXTS) * len(SESSIONS) * len(times), REPEATED * len(times) * 4
    cancelled = len(CANCELS) * CANCEL_WEIGHT if cancels else 0
    kinds = texts + 2 * again + cancelled
    items = [InboxItem(id="m1", text=WORDS[choose(len(WORDS))])]
    for place, kind in enumerate(some(choose, kinds, max_messages - 1, mean=2), start=2):
        if kind < texts:
            made = _message(f"m{place}", kind, times)
        elif kind < texts + again:
            made = _again(items, kind - texts, times)
        elif kind < texts + 2 * again:
            made = _of_the_same_id(items, f"m{place}", kind - texts - again, times)
        else:
            made = _cancel(f"m{place}", kind - texts - 2 * again, is_answered)
        items.append(msgspec.structs.replace(made, when=_later(made.when, place)))
    return tuple(items)


def _later(when: When, place: int) -> When:
    """The moment of a message: its time grows with its place, if it comes after a while."""
    for while_ms in (SECONDS_MS, HOURS_MS):
        if when == {"ms": while_ms}:
            return {"ms": while_ms * (place - 1)}
    return when


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


def at_once(item: InboxItem) -> InboxItem:
    """Return a message that comes after a while as one that comes with no turn open."""
    waits = isinstance(item.when, dict) and int(str(item.when.get("ms", 0))) >= SECONDS_MS
    return msgspec.structs.replace(item, when="idle") if waits else item


def _of_the_same_id(
    items: Sequence[InboxItem], name: str, number: int, times: Sequence[When]
) -> InboxItem:
    """Return a new message in another session, with the id of the last message of the first one."""
    said = [item for item in items if item.kind == "message"]
    when, text = divmod(number, len(WORDS))
    session = next(s for s in SESSIONS if s != said[-1].session)
    is_taken = any((item.id, item.session) == (said[-1].id, session) for item in items)
    id = name if is_taken else said[-1].id
    return InboxItem(id=id, text=WORDS[text], session=session, when=times[when % len(times)])


def beside_tools(items: Sequence[InboxItem], pushed: bool = False) -> tuple[InboxItem, ...]:
    """The messages with cancels that come after the first tool in place of the first answer; with
    `pushed` each second message too."""
    return tuple(
        msgspec.structs.replace(item, when={"after": "tool#1"})
        if item.when == FIRST_ANSWER and (item.kind != "message" or (pushed and place % 2))
        else item
        for place, item in enumerate(items)
    )


def _cancel(name: str, number: int, is_answered: bool) -> InboxItem:
    kind, session, when = CANCELS[number % len(CANCELS)]
    (moment,) = _certain((when,), is_answered)
    return InboxItem(id=name, kind=kind, session=session, when=moment)
