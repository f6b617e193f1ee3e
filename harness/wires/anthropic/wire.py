"""The face of the Anthropic wire: what implements the port `harness.core.ports.Wire`."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.messages import Message
from harness.core.ports import Parsed, Violation
from harness.wires.anthropic import fold, reply, response
from harness.wires.anthropic.request import AnthropicReader
from harness.wires.anthropic.rules import DIALECTS


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

    def parse(self, body: bytes, content_type: str) -> Parsed:
        """An answer's body (JSON, or a whole stream) as values."""
        return response.parse(body, content_type)

    def refuse(self, messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
        """What the dialect refuses in a request of these messages, first one first."""
        return fold.refuse(messages, dialect)
