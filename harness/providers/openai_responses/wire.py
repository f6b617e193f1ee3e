"""The face of the Responses wire: what implements the port `Provider`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.core.transition.ports import Parsed, Violation
from harness.core.values.messages import Message
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.openai_responses import answer, reply
from harness.providers.openai_responses.blocks import items_of
from harness.providers.openai_responses.path import Node, Path
from harness.providers.openai_responses.request import ResponsesReader
from harness.providers.openai_responses.rules import DIALECTS, refusals, rules_of
from harness.providers.openai_responses.validator import Known, finish, step


class OpenAIResponsesWire:
    """The OpenAI Responses API. It has no state; readers have."""

    name = "openai-responses"
    dialects = DIALECTS

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the wire answers."""
        return ("/v1/responses",)

    def reader(self, dialect: str, window_tokens: int | None = None) -> ResponsesReader:
        """A reader for one session; InputError when there is no such dialect."""
        return ResponsesReader(dialect, window_tokens)

    write = staticmethod(reply.write)

    def parse(self, body: bytes, content_type: str) -> Parsed:
        """An answer's body (JSON, or a whole stream) as values."""
        return answer.parse(body, content_type)

    def refuse(self, messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
        """What the dialect refuses in a request of these messages, first one first."""
        active, path, known = rules_of(dialect), Path(), Known({}, {})
        for n, item in enumerate(items_of(messages)):
            state = step(path.state, n, item, path.ids, known, active)
            path.push(Node(path.tip, item, state))
        return finish(path.state, active)

    def refusals(self) -> Mapping[str, ApiError]:
        """Every rule's answer by the rule's id, its text a template."""
        return refusals()

    def traits(self) -> ProviderTraits:
        """What faults ask about the provider; its values load only for a run with faults."""
        from harness.providers.openai_responses.traits import TRAITS

        return TRAITS
