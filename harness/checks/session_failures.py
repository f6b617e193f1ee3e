"""Sessions whose messages get no answer: refused, failed again and again, or left alone.

Asked of recordings: a run tells more, and `session_heals` and `outbound_once` ask it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.checks.declarations import needs
from harness.checks.evidence.group_chats import group_chats
from harness.checks.evidence.logged_errors import ErrorKind, error_kind, error_text
from harness.checks.evidence.program_rows import is_by_program, is_interrupt
from harness.checks.evidence.stored_messages import is_user_text
from harness.core.history.exchanges import Exchange, Node
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.verdict import Finding


@needs("model")
def session_answers(
    history: History, *, messages: int = 2, failures: int = 3, alone: int = 3
) -> Iterator[Finding]:
    """A recorded session answers the messages of its user.

    `dead`: the last `messages` messages of the user, or more, each got a refusal in the place of an
    answer, and no ordinary answer follows. The refusal is for what the request holds (413, 422,
    "Prompt is too long", `API Error: 400 ...`). What is refused stands in the stored conversation,
    so each further message is refused too. `failing`: the work on `failures` messages in a row, or
    more, ends in an error of the API. `account`: so it does, and the errors are about login, credit
    or a limit of use. `error_at_end`: a log ends in an error of the API, and none of these holds.
    `unanswered`: the session ends with `alone` messages of the user, or more, without an answer.

    Asked of recordings; of runs, `session_heals` is. An answer is an error where the log marks it
    so, or where its text begins like one. Not a finding: one failure that a later try mends; a
    session that went on after its refusals; a group chat; messages that the user took back by an
    interrupt.

    One tool call without a result stood in the history, and every later prompt was answered with
    status 400 (anthropics/claude-code#1831). An agent mends it by building each request newly from
    its rows, so that it is valid with any rows. Source: invariant 32.
    """
    if history.trace.world != "recording":
        return
    turns = list(_turns(history.trace))
    logged = any(start.inferred for start in history.trace.starts)
    for at, streak in _streaks(turns):
        at_end = at + len(streak) == len(turns)
        dead = _refused_at_end(streak) if at_end else []
        if len(dead) >= messages:
            text = f"the last {len(dead)} messages of the session are each answered by a refusal: "
            yield Finding("session_answers.dead", text + _said(dead), _events(dead))
        elif len(streak) >= failures:
            text = f"the work on {len(streak)} messages in a row ends in an error of the API: "
            rule = "account" if any(turn.ended == "account" for turn in streak) else "failing"
            yield Finding(f"session_answers.{rule}", text + _said(streak), _events(streak))
        elif at_end and logged:
            text = "the log ends in an error of the API: "
            yield Finding(
                "session_answers.error_at_end", text + _said(streak), _events(streak[-1:])
            )
    yield from _left_alone(history.trace, alone)


class _AskedTurn(msgspec.Struct):
    """A new message of the user, and the exchanges up to the next one; `ended` is the error in
    which they end, `answers` how many of them are ordinary answers."""

    exchanges: list[Exchange] = []
    ended: ErrorKind = ""
    answers: int = 0

    def add(self, exchange: Exchange) -> None:
        """Take in the next exchange."""
        self.exchanges.append(exchange)
        self.ended = error_kind(exchange)
        self.answers += not self.ended


def _turns(trace: Trace) -> Iterator[_AskedTurn]:
    turn: _AskedTurn | None = None
    for exchange in trace.exchanges:
        if exchange.answered is None:
            continue
        if turn is None or _asks_anew(exchange):
            if turn is not None:
                yield turn
            turn = _AskedTurn()
        turn.add(exchange)
    if turn is not None:
        yield turn


def _streaks(turns: list[_AskedTurn]) -> Iterator[tuple[int, list[_AskedTurn]]]:
    """Place and turns of each maximal row of turns that end in an error."""
    streak: list[_AskedTurn] = []
    for at, turn in enumerate([*turns, _AskedTurn()]):
        if turn.ended:
            streak.append(turn)
        elif streak:
            yield at - len(streak), streak
            streak = []


def _refused_at_end(streak: list[_AskedTurn]) -> list[_AskedTurn]:
    """The last turns of which each got nothing but refusals; the first may have had answers."""
    found: list[_AskedTurn] = []
    for turn in reversed(streak):
        if turn.ended != "refused" or turn.answers:
            break
        found.append(turn)
    return found[::-1]


def _said(turns: list[_AskedTurn]) -> str:
    """What the last error says."""
    said = error_text(turns[-1].exchanges[-1]) or "the log marks it so, without words"
    return said if len(said) <= 80 else f"{said[:80]}..."


def _events(turns: list[_AskedTurn]) -> tuple[int, ...]:
    return tuple(turn.exchanges[-1].n for turn in turns)


def _asks_anew(exchange: Exchange) -> bool:
    """Whether the request brings a new message of the user, and not a result alone."""
    added = [node.message for node in exchange.added if node.side == "user"]
    return any(message.text.strip() and not message.tool_results for message in added)


def _left_alone(trace: Trace, alone: int) -> Iterator[Finding]:
    """The messages of the user at the end of a session that nobody answers."""
    last = trace.exchanges[-1] if trace.exchanges else None
    if last is None or last.answered is not None or len(trace.exchanges) == 1:
        return
    count = _unanswered_words(last.node)
    if count >= alone and last.called.session not in group_chats(trace):
        text = f"the session ends with {count} messages of the user that nobody answers"
        yield Finding("session_answers.unanswered", text, (last.n,))


def _unanswered_words(node: Node | None) -> int:
    """How many messages in the user's own words end a list, up to an answer or an interrupt."""
    count = 0
    while node is not None and node.depth and node.side in ("user", "system"):
        if is_interrupt(node.message):
            break
        own = is_user_text(node.message) and bool(node.message.text.strip())
        count += own and not is_by_program(node.message)
        node = node.parent
    return count
