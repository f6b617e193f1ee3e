"""What both APIs of OpenAI have in common: the SDK, the home, fields, errors, words for types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared.reader import Field
from harness.providers.shared.record import HeaderNames, Sdk
from harness.providers.shared.rules import Rule
from harness.providers.shared.unoffered import is_out_of_reach, is_web_address

URL = "https://api.openai.com"
OTHER_MODEL = "gpt-4o-mini-2024-07-18"
ERROR_WORDS = (__package__, "openai_error_words.tsv")
AZURE = r"\.(openai|cognitiveservices|services\.ai)\.azure\.com$"
"""The hosts of Azure, which serves the same API."""

SDK = Sdk("openai", "OpenAI", "AsyncOpenAI", "OPENAI", base_path="/v1")
HEADERS = HeaderNames(
    request_id="x-request-id",
    rate_limits="x-ratelimit-",
    requests_left="x-ratelimit-remaining-requests",
)


class ParameterError(ApiError, frozen=True, gc=False, omit_defaults=True):
    """An error that names the parameter of the request that is wrong, "" for none."""

    param: str = ""


_TYPE_NAMES: dict[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    type(None): "null",
}


def type_name(value: Json) -> str:
    """The type of a value as the APIs' messages name it: `an object`, `a string`, `null`."""
    return _TYPE_NAMES.get(type(value), "an object")


def parameter_error(rule: Rule, text: str, param: str) -> ParameterError:
    """The answer of a rule that names the wrong parameter."""
    return ParameterError(rule.status, rule.type, text, code=rule.code, param=param)


URL_MOST_CHARS = 200
"""How much of an address the text of an error repeats."""


def picture_fault(url: Json) -> Literal["no address", "out of reach", ""]:
    """Why the APIs refuse a picture: its address must be one of the web, or hold the picture."""
    if not isinstance(url, str):
        return ""  # other rules ask for a text
    if not is_web_address(url) and not url.lower().startswith("data:"):
        return "no address"
    return "out of reach" if is_out_of_reach(url) else ""


Wanted = tuple[Callable[[Json], bool], str]
"""What a field must be: a test, and the words for it."""

TEXT: Wanted = (lambda value: isinstance(value, str), "a string")
COUNT: Wanted = (lambda v: isinstance(v, int) and not isinstance(v, bool), "an integer")
FLAG: Wanted = (lambda value: isinstance(value, bool), "a boolean")
LIST: Wanted = (lambda value: isinstance(value, list), "an array of objects")
OBJECTS: Wanted = (lambda v: LIST[0](v) and all(isinstance(item, dict) for item in v), LIST[1])


def field_reader(wanted: Mapping[str, Wanted]) -> Callable[[str, bytes], Field]:
    """Reads fields that must be what `wanted` says; one that is null counts as not given."""

    def read(name: str, raw: bytes) -> Field:
        value = msgspec.json.decode(raw)
        if value is None or name not in wanted or wanted[name][0](value):
            return Field(raw, value)
        return Field(raw, None, wanted=wanted[name][1])

    return read
