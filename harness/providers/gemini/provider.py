"""The Gemini API as a provider: answers, token counts and model facts.

A count refuses what an answer does, except for the window. Any model is known, with the scenario's
window.
"""

from __future__ import annotations

import re

from harness.core.transition.ports import Reader
from harness.core.values.calls import ProviderRequest
from harness.core.values.messages import Json
from harness.core.values.plans import ApiError, Facts
from harness.providers.gemini import blocks, reply, request, response, validator
from harness.providers.gemini.record import RECORD, TABLE, TRAITS
from harness.providers.gemini.request import GeminiReader
from harness.providers.shared.codec import decode, encode
from harness.providers.shared.json_fields import RecordedApi, mapping
from harness.providers.shared.provider import ApiProvider

COUNT, DESCRIBE = "count_tokens", "models"
_COUNT = re.compile(r"/v1(?:beta)?/models/([^/:]+):countTokens")
_MODELS = re.compile(r"/v1(?:beta)?/models(?:/([^/:]+))?")
_NEEDLESS = frozenset({"G9", "V23"})
"""Rules that a count skips."""


def question(method: str, path: str) -> ProviderRequest | None:
    """What is asked at an endpoint, None where there is none."""
    if method == "POST" and (found := _COUNT.fullmatch(path)):
        return ProviderRequest(COUNT, found[1])
    if method == "GET" and (found := _MODELS.fullmatch(path)):
        return ProviderRequest(DESCRIBE, found[1] or "")
    return None


def facts(
    asked: ProviderRequest, body: bytes, reader: Reader, window_tokens: int | None
) -> tuple[ProviderRequest, Facts | ApiError]:
    """The question with what its body says, and the answer."""
    if asked.operation == DESCRIBE:
        if asked.model:
            return asked, Facts(_described(asked.model, window_tokens))
        every = [_described(name, window_tokens) for name in RECORD.models]
        return asked, Facts({"models": every})
    reading = reader.read(_counted(body))
    asked = ProviderRequest(COUNT, asked.model, reading.tokens)
    found = (v.error for v in reading.violations if v.rule not in _NEEDLESS)
    details = [{"modality": "TEXT", "tokenCount": reading.tokens}]
    answer = Facts({"totalTokens": reading.tokens, "promptTokensDetails": details})
    return asked, next(found, None) or answer


def _described(name: str, window_tokens: int | None) -> dict[str, Json]:
    """A model as the API describes it; its window is the scenario's."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name.replace("-", " ").title(),
        "inputTokenLimit": window_tokens or 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }


def _counted(body: bytes) -> bytes:
    """The request that is counted: the body, or the one inside it."""
    try:
        inner = mapping(decode(body)).get("generateContentRequest")
    except (ValueError, RecursionError):
        return body
    return encode(inner) if isinstance(inner, dict) else body


class GeminiProvider(ApiProvider):
    """The Gemini API."""

    record, rules, kinds = RECORD, TABLE, TRAITS
    recorded = RecordedApi(
        name=RECORD.name,
        paths=RECORD.paths,
        field=RECORD.messages_field,
        answered_by="candidates",
        marks=lambda message: "parts" in message and "content" not in message,
        request=request.recorded_request,
        answer=response.recorded_answer,
        messages=blocks.recorded_messages,
    )

    reader = staticmethod(GeminiReader)
    write = staticmethod(reply.write)
    parse = staticmethod(response.parse)
    refuse = staticmethod(validator.refuse)
    question = staticmethod(question)
    facts = staticmethod(facts)
    write_facts = staticmethod(reply.write_facts)
