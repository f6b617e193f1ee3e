"""OpenAI Chat Completions as a provider."""

from __future__ import annotations

from functools import partial

from harness.core.values.provider_traits import ProviderTraits
from harness.providers.openai_chat import reply, request, response, validator
from harness.providers.openai_chat.framework_messages import recorded_messages
from harness.providers.openai_chat.record import RECORD
from harness.providers.openai_chat.request import OpenAIChatReader
from harness.providers.openai_chat.rules import TABLE
from harness.providers.shared import hosts
from harness.providers.shared.json_fields import RecordedApi


class OpenAIChatProvider:
    """OpenAI Chat Completions. It has no state; readers have."""

    name, record, kept_headers = RECORD.name, RECORD, RECORD.headers.kept
    recorded = RecordedApi(
        name=RECORD.name,
        paths=RECORD.paths,
        field=RECORD.messages_field,
        answered_by="choices",
        apart=True,
        request=request.recorded_request,
        answer=response.recorded_answer,
        messages=recorded_messages,
    )

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the provider answers."""
        return RECORD.live_paths

    def reader(self, dialect: str, window_tokens: int | None = None) -> OpenAIChatReader:
        """A reader for one session; InputError when there is no such dialect."""
        return OpenAIChatReader(dialect, window_tokens)

    complete_body = staticmethod(RECORD.complete_body)
    endpoint = staticmethod(partial(hosts.endpoint, RECORD, TABLE))
    write = staticmethod(reply.write)
    parse = staticmethod(response.parse)
    refuse = staticmethod(validator.refuse)
    refusals = staticmethod(TABLE.refusals)

    def traits(self) -> ProviderTraits:
        """What faults ask about the provider; its values load only for a run with faults."""
        from harness.providers.openai_chat.traits import TRAITS

        return TRAITS
