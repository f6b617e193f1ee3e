"""How a log shows a failure: an API error in place of an answer.

Some logs mark such an answer (`isApiErrorMessage`, `stopReason: error`), with or without a status.
Other logs hold only the text that the program wrote. Only the beginning of a text counts, because
models talk about errors too.
"""

from __future__ import annotations

import re
from typing import Literal

from harness.core.history.exchanges import Exchange

ErrorKind = Literal["", "refused", "account", "passing"]
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


def error_kind(exchange: Exchange) -> ErrorKind:
    """The kind of API error that a logged answer is; "" for an ordinary answer."""
    answered, reply = exchange.answered, exchange.reply
    if answered is None:
        return ""
    if answered.outcome == "error":
        return _marked(answered.status, answered.error, error_text(exchange))
    if reply is None or reply.tool_uses:
        return ""
    if _REFUSAL.match(reply.text):
        return "account" if _OF_THE_ACCOUNT.search(reply.text) else "refused"
    if _LOGIN.match(reply.text):
        return "account"
    if _ANY.match(reply.text):
        return "account" if _OF_THE_ACCOUNT.search(reply.text) else "passing"
    return ""


def _marked(status: int | None, type_: str, text: str) -> ErrorKind:
    """The kind of an error that the log marks as one."""
    if status in _ACCOUNT_STATUSES or _OF_THE_ACCOUNT.search(f"{type_} {text}"):
        return "account"
    known = status in _REFUSED_STATUSES or (status is None and type_ in _REFUSED_TYPES)
    return "refused" if known or _REFUSAL.match(text) else "passing"


def error_text(exchange: Exchange) -> str:
    """The text of a logged error, on one line."""
    value = exchange.answered.value if exchange.answered else None
    text = exchange.reply.text if exchange.reply else ""
    return " ".join((text or (value if isinstance(value, str) else "")).split())
