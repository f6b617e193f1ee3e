"""The official client with an answer put in its mouth: what an agent really sees."""

from __future__ import annotations

from typing import Any

import openai

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.plans import ApiError, Recorded, Reply, Send
from harness.providers import by_name
from harness.providers.openai_chat.record import RECORD
from tests.http_library import openai_http as http
from tests.providers.sends import joined

WIRE = by_name("openai-chat")
ASK: dict[str, Any] = {"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}]}
_BODY = b'{"model":"gpt-x","messages":[{"role":"user","content":"hi"}]%b}'
_STREAM = b',"stream":true,"stream_options":{"include_usage":true}'


def reading(stream: bool = False, body: bytes = b"") -> Reading:
    """The reading of a plain request; a streamed one asks for the usage."""
    return WIRE.reader(RECORD.dialects.default, None).read(
        body or _BODY % (_STREAM if stream else b"")
    )


def written(value: Reply | ApiError | Recorded, stream: bool = False) -> tuple[Send, ...]:
    """The value as the wire writes it."""
    return WIRE.write(value, reading(stream), "main/model#1", Draws(7))


class Mouth:
    """A client whose server reads each request with the wire and says what it is given."""

    def __init__(self) -> None:
        self.value: Reply | ApiError | Recorded = Reply()
        self.dialect = RECORD.dialects.default
        self.client = openai.OpenAI(
            api_key="key",
            base_url="http://fake.invalid/v1",
            max_retries=0,
            http_client=http.Client(transport=http.MockTransport(self._answer)),
        )

    def _answer(self, request: http.Request) -> http.Response:
        asked = WIRE.reader(self.dialect, None).read(request.read())
        value = asked.violations[0].error if asked.violations else self.value
        sends = WIRE.write(value, asked, "main/model#1", Draws(7))
        head = sends[0].head
        assert head is not None
        return http.Response(head.status, headers=head.headers, content=joined(sends))

    def plain(self, value: Reply | ApiError | Recorded) -> Any:
        """The completion of a plain call."""
        self.value = value
        return self.client.chat.completions.create(**ASK)

    def streamed(self, value: Reply | ApiError | Recorded) -> Any:
        """The completion that the client puts together from a stream."""
        self.value = value
        with self.client.chat.completions.stream(
            **ASK, stream_options={"include_usage": True}
        ) as stream:
            for _ in stream:
                pass
            return stream.current_completion_snapshot

    def chunks(self, value: Reply | ApiError | Recorded, **more: Any) -> list[Any]:
        """The chunks of a streamed call."""
        self.value = value
        return list(self.client.chat.completions.create(**ASK, stream=True, **more))
