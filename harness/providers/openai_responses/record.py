"""What is known of the OpenAI Responses API: its record, its rules, its errors, its odd bytes.

The core's error has no param; `ParameterError` has that of our own refusals. A stream has two error
shapes: flat in the event itself, and nested with the envelope in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared import openai
from harness.providers.shared.provider import traits_of
from harness.providers.shared.record import read_record
from harness.providers.shared.rules import ErrorTable, RuleTable
from harness.providers.shared.sse import frame

RECORD = read_record(__package__)

NAME_PATTERN = r"^[a-zA-Z0-9_-]+$"
NAME_CHARACTERS = 64
LEAST_OUTPUT_TOKENS = 16

NOT_STORED = (
    " Items are not persisted when `store` is set to false. Try again with `store` set to true, "
    "or remove this item from your input."
)
"""The end of R17 in a request that is not stored."""

WORDS = ErrorTable(
    openai.ERROR_WORDS, (__package__, "error_words.tsv"), error=openai.ParameterError
)
own = WORDS.own

TABLE = RuleTable(RECORD, __package__, openai.parameter_error, openai.fits, words=WORDS)
"""The rules of the API (`rules.tsv`)."""

rules_of, violation = TABLE.active, TABLE.violation

_STATUS = openai.statuses("responses")
"""The status that goes with an error's type."""

_CODES = {
    "insufficient_quota": "insufficient_quota",
    "requests": "rate_limit_exceeded",
    "tokens": "rate_limit_exceeded",
}
"""The code that goes with an error's type, where one does."""


def envelope(error: ApiError) -> dict[str, Json]:
    """The body of an error that is in the provider's words (`own`)."""
    param = error.param or None if isinstance(error, openai.ParameterError) else None
    code = error.code or (
        None if isinstance(error, openai.ParameterError) else _CODES.get(error.type)
    )
    return {"error": {"message": error.message, "type": error.type, "param": param, "code": code}}


def error_of(value: Json, status: int | None = None) -> ApiError:
    """The error in an envelope or a response; `status` None takes the usual one of its type."""
    error = value if isinstance(value, dict) else {"message": value}
    code, message = (str(error.get(name) or "") for name in ("code", "message"))
    kind = str(error.get("type") or code)
    return ApiError(_STATUS.get(kind, 0) if status is None else status, kind, message, code=code)


def flat_error(event: dict[str, Json]) -> ApiError:
    """The error of a flat event, whose type is only that of the event: its code says more."""
    return error_of({name: event.get(name) for name in ("code", "message")}, 200)


def _error_event(error: ApiError) -> bytes:
    """The error's fields stand beside the event's type, not below `error`; its code says what."""
    said = envelope(error)["error"]
    return frame("error", code=said["code"] or said["type"], message=error.message, param=None)


def _outline(body: Mapping[str, Json]) -> bytes:
    return b"".join(
        frame(f"response.{name}", sequence_number=number, response=body)
        for number, name in enumerate(("created", "completed"))
    )


TRAITS = traits_of(
    RECORD,
    own,
    arguments="text",
    other_model=openai.OTHER_MODEL,
    event_prefix="response.",
    error_event=_error_event,
    outline=_outline,
)
