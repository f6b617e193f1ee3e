"""What is known of OpenAI Chat Completions: its record, its rules, its errors, its odd bytes.

Of the rules (`rules.tsv`), C1 to C7 are about the conversation, C10 to C21 about a request's shape.
A lettered rule holds for all but lenient servers, its number for all. From C30 on, texts are those
of clones and gateways; `strict` has them all, because agents move between servers. All providers
name V23 and V24 alike.

The `type` of an error is coarse; programs look at `code`. `param` names the field at fault.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared import openai
from harness.providers.shared.provider import traits_of
from harness.providers.shared.record import read_record
from harness.providers.shared.rules import ErrorTable, RuleTable

RECORD = read_record(__package__)

WORDS = ErrorTable(openai.ERROR_WORDS, error=openai.ParameterError)
own = WORDS.own

TABLE = RuleTable(RECORD, __package__, openai.parameter_error, openai.fits, words=WORDS)
rules_of, violation = TABLE.active, TABLE.violation

_STATUS = openai.statuses("chat")
"""The status that goes with a code or, without one, with a type."""

_WINDOW = "maximum context length"


def envelope(error: ApiError) -> dict[str, Json]:
    """The body of an error that is in the provider's words (`own`)."""
    param = error.param if isinstance(error, openai.ParameterError) else ""
    code = error.code
    # The text comes from outside: a scenario, a plug-in or a fault says it without the code, and
    # programs look at the code. Errors of our own rules have theirs in the table.
    if not code and _WINDOW in error.message:
        code, param = "context_length_exceeded", "messages"
    named = {"param": param or None, "code": code or None}
    return {"error": {"message": error.message, "type": error.type, **named}}


def error_of(value: dict[str, Json], status: int | None) -> openai.ParameterError | None:
    """The error of a body, None when it holds none; `status` None takes the usual one.

    Some servers leave out the envelope, and say `"object": "error"`.
    """
    error = value if value.get("object") == "error" else value.get("error")
    if not error:
        return None
    error = error if isinstance(error, dict) else {"message": error}
    kind, code, param = (_text(error.get(name)) for name in ("type", "code", "param"))
    if status is None:
        status = _STATUS.get(code) or _STATUS.get(kind, 0)
    return openai.ParameterError(status, kind, _text(error.get("message")), code=code, param=param)


def _text(value: Json) -> str:
    return "" if value is None else str(value)


DONE = b"data: [DONE]\n\n"
"""The end of a stream."""


def _error_event(error: ApiError) -> bytes:
    """Chat's events have no names, and its errors are chunks."""
    return _chunk(envelope(error))


def _outline(body: Mapping[str, Json]) -> bytes:
    return _chunk({**body, "object": "chat.completion.chunk", "choices": []}) + DONE


def _chunk(said: Mapping[str, Json]) -> bytes:
    return b"data: %b\n\n" % msgspec.json.encode(said)


TRAITS = traits_of(
    RECORD,
    own,
    arguments="text",
    other_model=openai.OTHER_MODEL,
    output_count="completion_tokens",
    error_event=_error_event,
    outline=_outline,
)
