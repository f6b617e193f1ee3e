"""The face of the Anthropic wire: what implements the port `Provider`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.core.transition.ports import Parsed, Violation
from harness.core.values.messages import Message
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.anthropic import facts, fold, reply, response
from harness.providers.anthropic.request import AnthropicReader
from harness.providers.anthropic.rules import DIALECTS, refusals


class AnthropicWire:
    """The Anthropic Messages API. It has no state; readers have."""

    name = "anthropic"
    dialects = DIALECTS

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the wire answers."""
        return ("/v1/messages",)

    def reader(self, dialect: str, window_tokens: int | None = None) -> AnthropicReader:
        """A reader for one session; InputError when there is no such dialect."""
        return AnthropicReader(dialect, window_tokens)

    write = staticmethod(reply.write)
    question = staticmethod(facts.question)
    facts = staticmethod(facts.facts)
    write_facts = staticmethod(reply.write_facts)

    def parse(self, body: bytes, content_type: str) -> Parsed:
        """An answer's body (JSON, or a whole stream) as values."""
        return response.parse(body, content_type)

    def refuse(self, messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
        """What the dialect refuses in a request of these messages, first one first."""
        return fold.refuse(messages, dialect)

    def refusals(self) -> Mapping[str, ApiError]:
        """Every rule's answer by the rule's id, its text a template."""
        return refusals()

    def traits(self) -> ProviderTraits:
        """What faults ask about the provider; its values load only for a run with faults."""
        from harness.providers.anthropic.traits import TRAITS

        return TRAITS
