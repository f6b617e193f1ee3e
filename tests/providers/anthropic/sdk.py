"""The official client with an answer put in its mouth: what an agent really sees."""

from __future__ import annotations

from typing import Any

import anthropic

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.plans import ApiError, Recorded, Reply, Send
from harness.providers import by_name
from harness.providers.anthropic.record import RECORD
from tests.http_library import http
from tests.providers.sends import joined

WIRE = by_name("anthropic")
ASK: dict[str, Any] = {
    "model": "claude-x",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hi"}],
}


def reading(stream: bool = False) -> Reading:
    """The reading of a plain request."""
    body = b'{"model":"claude-x","max_tokens":100,"messages":[{"role":"user","content":"hi"}]%b}'
    return WIRE.reader(RECORD.dialects.default, None).read(
        body % (b',"stream":true' if stream else b"")
    )


def written(value: Reply | ApiError | Recorded, stream: bool = False) -> tuple[Send, ...]:
    """The value as the wire writes it."""
    return WIRE.write(value, reading(stream), "main/model#1", Draws(7))


class Mouth:
    """A client whose server reads each request with the wire and says what it is given."""

    def __init__(self) -> None:
        self.value: Reply | ApiError | Recorded = Reply()
        self.dialect = RECORD.dialects.default
        transport = http.MockTransport(self._answer)
        self.client = anthropic.Anthropic(
            api_key="key",
            base_url="http://fake.invalid",
            max_retries=0,
            http_client=http.Client(transport=transport),
        )

    def _answer(self, request: http.Request) -> http.Response:
        asked = WIRE.reader(self.dialect, None).read(request.read())
        value = asked.violations[0].error if asked.violations else self.value
        sends = WIRE.write(value, asked, "main/model#1", Draws(7))
        head = sends[0].head
        assert head is not None
        return http.Response(head.status, headers=head.headers, content=joined(sends))

    def plain(self, value: Reply | ApiError | Recorded) -> Any:
        """The message of a plain call."""
        self.value = value
        return self.client.messages.create(**ASK)

    def streamed(self, value: Reply | ApiError | Recorded) -> Any:
        """The message that the client puts together from a stream."""
        self.value = value
        with self.client.messages.stream(**ASK) as stream:
            return stream.get_final_message()

    def beta_plain(self, value: Reply) -> Any:
        """The message of a plain beta call."""
        self.value = value
        return self.client.beta.messages.create(**ASK)

    def beta_streamed(self, value: Reply) -> Any:
        """The message that the client puts together from a stream of the beta API."""
        self.value = value
        with self.client.beta.messages.stream(**ASK) as stream:
            return stream.get_final_message()
