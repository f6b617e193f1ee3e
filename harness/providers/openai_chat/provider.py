"""OpenAI Chat Completions as a provider."""

from __future__ import annotations

from harness.providers.openai_chat import reply, request, response, validator
from harness.providers.openai_chat.framework_messages import recorded_messages
from harness.providers.openai_chat.record import RECORD, TABLE, TRAITS
from harness.providers.openai_chat.request import OpenAIChatReader
from harness.providers.shared.json_fields import RecordedApi
from harness.providers.shared.provider import ApiProvider


class OpenAIChatProvider(ApiProvider):
    """OpenAI Chat Completions."""

    record, rules, kinds = RECORD, TABLE, TRAITS
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

    reader = staticmethod(OpenAIChatReader)
    write = staticmethod(reply.write)
    parse = staticmethod(response.parse)
    refuse = staticmethod(validator.refuse)
