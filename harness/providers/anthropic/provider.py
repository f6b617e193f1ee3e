"""The Anthropic Messages API as a provider: messages, token counts and model facts.

Refusals and usage use the same count. A count refuses what a message does, except for the window
(agents count for it) and `max_tokens` (absent). Any model is known, with the scenario's window.
"""

from __future__ import annotations

from harness.core.transition.ports import Reader, Violation
from harness.core.values.calls import ProviderRequest
from harness.core.values.messages import Json
from harness.core.values.plans import ApiError, Facts
from harness.providers.anthropic import blocks, reply, request, response, validator
from harness.providers.anthropic.models import info
from harness.providers.anthropic.record import RECORD, TABLE, TRAITS
from harness.providers.anthropic.request import AnthropicReader
from harness.providers.shared.json_fields import RecordedApi
from harness.providers.shared.provider import ApiProvider

COUNT_TOKENS, MODELS = "/v1/messages/count_tokens", "/v1/models"
COUNT, DESCRIBE = "count_tokens", "models"


def question(method: str, path: str) -> ProviderRequest | None:
    """What is asked at an endpoint, None where there is none."""
    if method == "POST" and _is_count(path):
        return ProviderRequest(COUNT)
    if method != "GET" or not f"{path}/".startswith(f"{MODELS}/"):
        return None
    name = path[len(MODELS) :].strip("/")
    return None if "/" in name else ProviderRequest(DESCRIBE, name)


def _is_count(path: str) -> bool:
    row = RECORD.address_of(path)
    return path == COUNT_TOKENS or (row is not None and row.live and row.operation == "count")


def facts(
    asked: ProviderRequest, body: bytes, reader: Reader, window_tokens: int | None
) -> tuple[ProviderRequest, Facts | ApiError]:
    """The question with what its body says, and the answer."""
    if asked.operation == DESCRIBE:
        said = info(asked.model, window_tokens) if asked.model else _listed(window_tokens)
        return asked, Facts(said)
    reading = reader.read(body)
    asked = ProviderRequest(COUNT, reading.model, reading.tokens)
    refused = next((v.error for v in reading.violations if _counts(v)), None)
    return asked, refused or Facts({"input_tokens": reading.tokens})


def _listed(window_tokens: int | None) -> dict[str, Json]:
    """The list of models, as one page."""
    names = RECORD.models
    data = [info(name, window_tokens) for name in names]
    return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _counts(found: Violation) -> bool:
    """Whether a count refuses this too.

    It needs no `max_tokens`, and agents count in order to learn what fits into the window.
    """
    needless = found.rule == "V32" and found.path == "max_tokens"
    return not needless and found.rule not in ("V23", "V24", "V25")


class AnthropicProvider(ApiProvider):
    """The Anthropic Messages API."""

    record, rules, kinds = RECORD, TABLE, TRAITS
    recorded = RecordedApi(
        name=RECORD.name,
        paths=RECORD.paths,
        field=RECORD.messages_field,
        framed=True,
        marks=blocks.is_own,
        apart=True,
        request=request.recorded_request,
        answer=response.recorded_answer,
        messages=request.recorded_messages,
    )

    reader = staticmethod(AnthropicReader)
    write = staticmethod(reply.write)
    parse = staticmethod(response.parse)
    refuse = staticmethod(validator.refuse)
    question = staticmethod(question)
    facts = staticmethod(facts)
    write_facts = staticmethod(reply.write_facts)
