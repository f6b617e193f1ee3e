"""Sessions whose messages get no answer: refused, failed again and again, or left alone.

This check applies to recordings. A run shows more, so `session_heals` and `outbound_once` judge it.

Some logs mark an answer that is an API error (`isApiErrorMessage`, `stopReason: error`), with or
without a status. Other logs hold only the text that the program wrote. Only the beginning of a text
counts, because models talk about errors too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, takewhile
from typing import Literal

import msgspec

from harness.checks.evidence.declarations import asks_results, needs
from harness.checks.evidence.message_authors import group_chats, is_by_program, is_interrupt
from harness.checks.evidence.stored_messages import is_user_text
from harness.core.history.exchanges import Exchange, Node
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.verdict import Finding

_ErrorKind = Literal["", "refused", "account", "passing"]
"""`refused`: the API refuses the content of the request. `account`: login, credit or a usage limit.
`passing`: any other error. "": the answer is not an error."""

_REFUSAL = re.compile(
    r"\A\W*+(?:(?:API ?Error|Error code|HTTP(?: error)?|(?:\w+\.)*BadRequestError)\b[\s:(]*+"
    r"(?:Error code[\s:(]*+)?(?:400|413|422)\b|(?:prompt|input) is too long)",
    re.IGNORECASE,
)
"""The beginnings of texts that programs log in place of a refused answer."""

_ANY = re.compile(
    r"\A\W*(?:API ?Error\s*[:(]|Error code[\s:]*[45]\d\d\b"
    r"|HTTP(?: error)?:? [45]\d\d\s*(?:[:(-]|\Z)"
    r"|(?:\w+\.)*(?:API(?:Connection|Timeout|Status)?|RateLimit|InternalServer|Overloaded"
    r"|ServiceUnavailable)Error\b[\s:(])"
)
"""The beginnings of texts that programs log for any error of the API."""

_LOGIN = re.compile(
    r"\A\W*(?:Credit balance is too low|Invalid API key|Not logged in|Login expired"
    r"|Please run /login|OAuth token has expired|Failed to authenticate"
    r"|Claude (?:AI )?usage limit reached|You've hit your (?:\w+ )?limit"
    r"|You're out of extra usage)",
    re.IGNORECASE,
)
"""The beginnings of texts about the account."""

_OF_THE_ACCOUNT = re.compile(
    r"credit|billing|balance|quota|api.?key|organi[sz]ation|disabled|permission|subscription"
    r"|/login|authenticat|(?:session|usage|weekly) limit|extra usage|spend",
    re.IGNORECASE,
)
"""Words in a refusal that is about the account."""

_ACCOUNT_STATUSES = frozenset({401, 402, 403})
_REFUSED_STATUSES = frozenset({400, 413, 422})
_REFUSED_TYPES = frozenset({"invalid_request", "invalid_request_error", "request_too_large"})


@needs("model", place=440)
@asks_results()
def session_answers(
    history: History, *, messages: int = 2, failures: int = 3, alone: int = 3
) -> Iterator[Finding]:
    """A recorded session answers the messages of its user.

    `dead`: the last `messages` messages of the user, or more, each got a refusal in place of an
    answer, and no ordinary answer follows. The refusal is about the content of the request (413,
    422, "Prompt is too long", `API Error: 400 ...`). The refused content is in the stored
    conversation, so each further message is refused too. `failing`: the work on `failures` messages
    in a row, or more, ends in an error of the API. `account`: the same, and the errors are about
    login, credit or a usage limit. `error_at_end`: a log ends in an error of the API, and none of
    these holds. `unanswered`: the session ends with `alone` messages of the user, or more, without
    an answer.

    The check applies to recordings; `session_heals` applies to runs. An answer is an error if the
    log marks it as one, or if its text begins like one. Not a finding: one failure before a later
    success; a session that continued after its refusals; a group chat; messages that the user took
    back by an interrupt.

    The history held one tool call without a result, and every later prompt got status 400
    (anthropics/claude-code#1831). To fix it, build each request from the stored rows in a way that
    is valid for any rows. Source: invariant 32.
    """
    if history.trace.world != "recording":
        return
    turns = _turns(history.trace)
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
            text = f"the log ends in an error of the API: {_said(streak)}"
            yield Finding("session_answers.error_at_end", text, _events(streak[-1:]))
    yield from _left_alone(history.trace, alone)


class _AskedTurn(msgspec.Struct):
    """A new message of the user, and the exchanges up to the next one. `ended` is the kind of error
    at their end; `answers` is the number of ordinary answers."""

    exchanges: list[Exchange] = []
    ended: _ErrorKind = ""
    answers: int = 0

    def add(self, exchange: Exchange) -> None:
        """Add the next exchange."""
        self.exchanges.append(exchange)
        self.ended = _error_kind(exchange)
        self.answers += not self.ended


def _turns(trace: Trace) -> list[_AskedTurn]:
    turns: list[_AskedTurn] = []
    for exchange in trace.exchanges:
        if exchange.answered is None:
            continue
        if not turns or _asks_anew(exchange):
            turns.append(_AskedTurn())
        turns[-1].add(exchange)
    return turns


def _streaks(turns: list[_AskedTurn]) -> Iterator[tuple[int, list[_AskedTurn]]]:
    """Yield the place and the turns of each maximal series of turns that end in an error."""
    for is_error, some in groupby(enumerate(turns), lambda item: bool(item[1].ended)):
        if is_error:
            (at, first), *more = some
            yield at, [first, *(turn for _, turn in more)]


def _refused_at_end(streak: list[_AskedTurn]) -> list[_AskedTurn]:
    """The last turns that got only refusals; the first of them may have answers too."""
    last = takewhile(lambda turn: turn.ended == "refused" and not turn.answers, reversed(streak))
    return [*last][::-1]


def _said(turns: list[_AskedTurn]) -> str:
    """The text of the last error."""
    said = _error_text(turns[-1].exchanges[-1]) or "the log marks an error without a text"
    return said if len(said) <= 80 else f"{said[:80]}..."


def _events(turns: list[_AskedTurn]) -> tuple[int, ...]:
    return tuple(turn.exchanges[-1].n for turn in turns)


def _asks_anew(exchange: Exchange) -> bool:
    """Whether the request holds a new message of the user, and not only results."""
    said = (node.message for node in exchange.added if node.side == "user" and not node.results)
    return any(message.text.strip() for message in said)


def _left_alone(trace: Trace, alone: int) -> Iterator[Finding]:
    """Yield the user's unanswered messages at the end of a session."""
    last = trace.exchanges[-1] if trace.exchanges else None
    if last is None or last.answered is not None or len(trace.exchanges) == 1:
        return
    count = _unanswered_words(last.node)
    if count >= alone and last.called.session not in group_chats(trace):
        text = f"the session ends with {count} unanswered messages of the user"
        yield Finding("session_answers.unanswered", text, (last.n,))


def _unanswered_words(last: Node) -> int:
    """The number of the user's own messages at the end of a list, after an answer or an
    interrupt."""
    count = 0
    for node in last.back():
        if node.side not in ("user", "system") or is_interrupt(node.message):
            break
        own = is_user_text(node.message) and bool(node.message.text.strip())
        count += own and not is_by_program(node.message)
    return count


def _error_kind(exchange: Exchange) -> _ErrorKind:
    """The kind of API error that a logged answer is; "" for an ordinary answer."""
    answered, reply = exchange.answered, exchange.reply
    if answered is None:
        return ""
    if answered.outcome == "error":
        return _marked(answered.status, answered.error, _error_text(exchange))
    if reply is None or reply.tool_uses:
        return ""
    if _REFUSAL.match(reply.text):
        return "account" if _OF_THE_ACCOUNT.search(reply.text) else "refused"
    if _LOGIN.match(reply.text):
        return "account"
    if _ANY.match(reply.text):
        return "account" if _OF_THE_ACCOUNT.search(reply.text) else "passing"
    return ""


def _marked(status: int | None, type_: str, text: str) -> _ErrorKind:
    """The kind of an error that the log marks as one."""
    if status in _ACCOUNT_STATUSES or _OF_THE_ACCOUNT.search(f"{type_} {text}"):
        return "account"
    known = status in _REFUSED_STATUSES or (status is None and type_ in _REFUSED_TYPES)
    return "refused" if known or _REFUSAL.match(text) else "passing"


def _error_text(exchange: Exchange) -> str:
    """The text of a logged error, on one line."""
    value = exchange.answered.value if exchange.answered else None
    text = exchange.reply.text if exchange.reply else ""
    return " ".join((text or (value if isinstance(value, str) else "")).split())
