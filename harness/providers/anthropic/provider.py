"""The Anthropic Messages API as a provider: messages, token counts and model facts.

Refusals and usage use the same count. A count refuses what a message does, except for the window
(agents count for it) and `max_tokens` (absent). Any model is known, with the scenario's window.
"""

from __future__ import annotations

from functools import partial

from harness.core.transition.ports import Reader, Violation
from harness.core.values.calls import ProviderRequest
from harness.core.values.plans import ApiError, Facts
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.anthropic import blocks, reply, request, response, validator
from harness.providers.anthropic.models import info, listed
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.request import AnthropicReader
from harness.providers.anthropic.rules import TABLE
from harness.providers.shared import hosts
from harness.providers.shared.json_fields import RecordedApi

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
        said = info(asked.model, window_tokens) if asked.model else listed(window_tokens)
        return asked, Facts(said)
    reading = reader.read(body)
    asked = ProviderRequest(COUNT, reading.model, reading.tokens)
    refused = next((v.error for v in reading.violations if _counts(v)), None)
    return asked, refused or Facts({"input_tokens": reading.tokens})


def _counts(found: Violation) -> bool:
    needless = found.rule == "V32" and found.error.message.startswith("max_tokens:")
    return not needless and found.rule not in ("V23", "V24", "V25")


class AnthropicProvider:
    """The Anthropic Messages API. It has no state; readers have."""

    name, record, kept_headers = RECORD.name, RECORD, RECORD.headers.kept
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

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the provider answers."""
        return RECORD.live_paths

    def reader(self, dialect: str, window_tokens: int | None = None) -> AnthropicReader:
        """A reader for one session; InputError when there is no such dialect."""
        return AnthropicReader(dialect, window_tokens)

    complete_body = staticmethod(RECORD.complete_body)
    endpoint = staticmethod(partial(hosts.endpoint, RECORD, TABLE))
    write = staticmethod(reply.write)
    parse = staticmethod(response.parse)
    refuse = staticmethod(validator.refuse)
    refusals = staticmethod(TABLE.refusals)
    question = staticmethod(question)
    facts = staticmethod(facts)
    write_facts = staticmethod(reply.write_facts)

    def traits(self) -> ProviderTraits:
        """What faults ask about the provider; its values load only for a run with faults."""
        from harness.providers.anthropic.traits import TRAITS

        return TRAITS
