"""What is known of the Gemini API: its record, its models, its rules, its errors, its odd bytes.

Of the rules (`rules.tsv`), G1 to G12 are about the conversation, G13 to G22 about the shape of a
request. From G30 on, texts are those of gateways and of early versions; `strict` has them. A rule
of some `models` holds for those whose name tells their version. All providers name V23 alike.

An error has a code, a message, a status, and details that programs read. A type of another provider
becomes the word of its status. An error that asks for a wait says it as `RetryInfo`; one of a quota
names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.core.values.table_file import pairs
from harness.providers.shared import json_fields as f
from harness.providers.shared.provider import traits_of
from harness.providers.shared.record import read_record
from harness.providers.shared.rules import ErrorTable, Rule, RuleTable

STREAMS, LISTED = ":streams", ":listed"
"""What an address says: the answer streams, its chunks are a JSON list. No field is called so."""

RECORD = read_record(__package__)

Version = tuple[int, int]

_NAME = re.compile(r"gemini-(\d+)(?:\.(\d+))?(?![\d.])")
_TERM = re.compile(r"(>=|<)(\d+)(?:\.(\d+))?")

SIGNS_CALLS: Version = (3, 0)
"""From here on a model signs its calls, and wants the signatures back."""


@cache
def version_of(model: str) -> Version | None:
    """The version of a model by its name, None where the name does not tell."""
    found = _NAME.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else None


def signs_calls(model: str) -> bool:
    """Whether a model signs its calls."""
    version = version_of(model)
    return version is not None and version >= SIGNS_CALLS


def fits(models: str, name: str) -> bool:
    """Whether a model is one of `models`, terms as in `>=3 <2.6`; an unknown model is not."""
    version = version_of(name)
    return version is not None and any(_is(term, version) for term in models.split())


def _is(term: str, version: Version) -> bool:
    found = _TERM.fullmatch(term)
    assert found is not None, term
    return (version >= (int(found[2]), int(found[3] or 0))) is (found[1] == ">=")


class FieldError(ApiError, frozen=True, gc=False, omit_defaults=True):
    """An error that names the field of the request that is wrong, "" for none."""

    field: str = ""


def _error(rule: Rule, text: str, param: str) -> ApiError:
    return FieldError(
        rule.status, rule.type, text.replace("\\n", "\n"), code=rule.code, field=param
    )


WORDS = ErrorTable((__package__, "error_words.tsv"))
own = WORDS.own

TABLE = RuleTable(RECORD, __package__, _error, fits, words=WORDS)
rules_of, violation = TABLE.active, TABLE.violation


class Broken(msgspec.Struct, frozen=True, gc=False):
    """What a content breaks by itself: a rule, and what its text names beside the content."""

    rule: str
    values: dict[str, object] = {}

    def at(self, n: int) -> Violation:
        """The violation of the content at place `n`, in whose path `{n}` stands for it."""
        values = dict(self.values)
        if isinstance(path := values.get("path"), str):
            values["path"] = path.replace("{n}", str(n))
        return violation(self.rule, **{"n": n, **values})


_WORDS = {int(status): word for status, word in pairs(__package__, "statuses.tsv").items()}
_STATUS = {word: status for status, word in reversed(_WORDS.items())}

KEY_INVALID = "API_KEY_INVALID"
"""The code of a key that is refused; its status is that of a malformed request."""

_RPC = "type.googleapis.com/google.rpc."
_METRIC = "generativelanguage.googleapis.com/generate_content_requests"
_QUOTA = "GenerateRequestsPerMinutePerProjectPerModel"
_SECONDS = re.compile(r"\d+(\.\d+)?")


def envelope(error: ApiError) -> dict[str, Json]:
    """The body of an error that is in the provider's words (`own`)."""
    status = error.status if error.status >= 400 else _STATUS.get(error.type, 500)
    word = error.type if error.type.isupper() else _WORDS.get(status, "UNKNOWN")
    said: dict[str, Json] = {"code": status, "message": error.message, "status": word}
    if details := [*_details(error, word)]:
        said["details"] = details
    return {"error": said}


def _details(error: ApiError, word: str) -> list[Json]:
    details: list[Json] = []
    if isinstance(error, FieldError) and error.field:
        violation = {"field": error.field, "description": error.message}
        details.append({"@type": f"{_RPC}BadRequest", "fieldViolations": [violation]})
    if error.code == KEY_INVALID:
        service = {"service": "generativelanguage.googleapis.com"}
        reason = {"reason": KEY_INVALID, "domain": "googleapis.com", "metadata": service}
        told = {"locale": "en-US", "message": error.message}
        details += [{"@type": f"{_RPC}ErrorInfo", **reason}]
        details += [{"@type": f"{_RPC}LocalizedMessage", **told}]
    if word == "RESOURCE_EXHAUSTED":
        quota = {"quotaMetric": _METRIC, "quotaId": error.code or _QUOTA}
        details.append({"@type": f"{_RPC}QuotaFailure", "violations": [quota]})
    headers = {name.lower(): value for name, value in error.headers.items()}
    wait = headers.get("retry-after", "")
    if _SECONDS.fullmatch(wait):
        details.append({"@type": f"{_RPC}RetryInfo", "retryDelay": f"{wait}s"})
    return details


def error_of(value: Json, status: int | None = None) -> ApiError | None:
    """The error of a body, None when it holds none; a list of one is one, as streams have it."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    said = f.mapping(value).get("error")
    if not said:
        return None
    if not isinstance(said, dict):
        return ApiError(status or 0, "", str(said))
    word = f.text(said.get("status"))
    if status is None:
        status = f.whole(said.get("code")) or _STATUS.get(word, 0)
    return ApiError(status, word, f.text(said.get("message")))


def _error_event(error: ApiError) -> bytes:
    return _event(envelope(error))


def _event(said: Mapping[str, Json]) -> bytes:
    return b"data: %b\r\n\r\n" % msgspec.json.encode(said)


TRAITS = traits_of(
    RECORD,
    own,
    endpoint="",
    arguments="object",
    model_field="modelVersion",
    other_model="gemini-2.5-flash",
    reads_past_the_end=True,
    output_count="candidatesTokenCount",
    error_event=_error_event,
    outline=_event,
)
