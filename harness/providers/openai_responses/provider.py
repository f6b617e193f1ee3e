"""The face of the Responses wire: what implements the port `Provider`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.core.transition.ports import Parsed, Violation
from harness.core.values.messages import Message
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.openai_responses import reply, response
from harness.providers.openai_responses.blocks import items_of
from harness.providers.openai_responses.conversations import ItemPath
from harness.providers.openai_responses.record import RECORD
from harness.providers.openai_responses.request import ResponsesReader
from harness.providers.openai_responses.rules import TABLE, rules_of
from harness.providers.openai_responses.validator import KnownItems


class OpenAIResponsesProvider:
    """The OpenAI Responses API. It has no state; readers have."""

    name, record, dialects = RECORD.name, RECORD, RECORD.dialects.names

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the wire answers."""
        return (RECORD.path,)

    def reader(self, dialect: str, window_tokens: int | None = None) -> ResponsesReader:
        """A reader for one session; InputError when there is no such dialect."""
        return ResponsesReader(dialect, window_tokens)

    write = staticmethod(reply.write)

    def parse(self, body: bytes, content_type: str) -> Parsed:
        """An answer's body (JSON, or a whole stream) as values."""
        return response.parse(body, content_type)

    def refuse(self, messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
        """What the dialect refuses in a request of these messages, first one first."""
        path, known = ItemPath(rules_of(dialect)), KnownItems({}, {})
        for n, item in enumerate(items_of(messages)):
            path.take(item, known, n)
        return path.finish()

    def refusals(self) -> Mapping[str, ApiError]:
        """Every rule's answer by the rule's id, its text a template."""
        return TABLE.refusals()

    def traits(self) -> ProviderTraits:
        """What faults ask about the provider; its values load only for a run with faults."""
        from harness.providers.openai_responses.traits import TRAITS

        return TRAITS
