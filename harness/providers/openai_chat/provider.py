"""The face of the wire: what implements the port `Provider`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.core.transition.ports import Parsed, Violation
from harness.core.values.messages import Message
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.openai_chat import reply, response, validator
from harness.providers.openai_chat.record import RECORD
from harness.providers.openai_chat.request import OpenAIChatReader
from harness.providers.openai_chat.rules import TABLE


class OpenAIChatProvider:
    """OpenAI Chat Completions. It has no state; readers have."""

    name, record, dialects = RECORD.name, RECORD, RECORD.dialects.names

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the wire answers."""
        return (RECORD.path,)

    def reader(self, dialect: str, window_tokens: int | None = None) -> OpenAIChatReader:
        """A reader for one session; InputError when there is no such dialect."""
        return OpenAIChatReader(dialect, window_tokens)

    write = staticmethod(reply.write)

    def parse(self, body: bytes, content_type: str) -> Parsed:
        """An answer's body (JSON, or a whole stream) as values."""
        return response.parse(body, content_type)

    def refuse(self, messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
        """What the dialect refuses in a request of these messages, first one first."""
        return validator.refuse(messages, dialect)

    def refusals(self) -> Mapping[str, ApiError]:
        """Every rule's answer by the rule's id, its text a template."""
        return TABLE.refusals()

    def traits(self) -> ProviderTraits:
        """What faults ask about the provider; its values load only for a run with faults."""
        from harness.providers.openai_chat.traits import TRAITS

        return TRAITS
