"""What both APIs of OpenAI have in common: the SDK, the home, errors and words for JSON types."""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared.record import HeaderNames, Sdk
from harness.providers.shared.rules import Rule

URL = "https://api.openai.com"
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
