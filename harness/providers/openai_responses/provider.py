"""The OpenAI Responses API as a provider."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.transition.ports import Violation
from harness.core.values.messages import Message
from harness.providers.openai_responses import blocks, reply, request, response
from harness.providers.openai_responses.blocks import items_of
from harness.providers.openai_responses.conversations import ItemPath
from harness.providers.openai_responses.record import RECORD, TABLE, TRAITS, rules_of
from harness.providers.openai_responses.request import ResponsesReader
from harness.providers.openai_responses.validator import KnownItems
from harness.providers.shared.json_fields import RecordedApi
from harness.providers.shared.provider import ApiProvider


class OpenAIResponsesProvider(ApiProvider):
    """The OpenAI Responses API."""

    record, rules, kinds = RECORD, TABLE, TRAITS
    recorded = RecordedApi(
        name=RECORD.name,
        paths=RECORD.paths,
        field=RECORD.messages_field,
        answered_by="output",
        marks=blocks.is_own,
        request=request.recorded_request,
        answer=response.recorded_answer,
        messages=blocks.recorded_messages,
    )

    reader = staticmethod(ResponsesReader)
    write = staticmethod(reply.write)
    parse = staticmethod(response.parse)

    def refuse(self, messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
        """What the dialect refuses in a request of these messages, first one first."""
        path, known = ItemPath(rules_of(dialect)), KnownItems({}, {})
        for n, item in enumerate(items_of(messages)):
            path.take(item, known, n)
        return path.finish()
