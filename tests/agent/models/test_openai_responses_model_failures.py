"""The model over the Responses API: every way in which no answer comes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.agent.models.failures import FailureKind
from harness.agent.models.openai_responses_model import OpenAIResponsesModel
from harness.core.values.messages import Text
from harness.core.values.plans import ApiError, Reply
from tests.agent.openai_responses_stand import QUERY, STREAMS, WHOLE, answered, failing
from tests.http_library import openai_http as http
from tests.providers.openai_responses.world import written
from tests.providers.sends import content_type, joined


def streamed(*events: dict[str, Any]) -> bytes:
    """Events as a stream."""
    frames = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    return "".join(frames).encode()


@settings(deadline=None)
@given(st.data())
def test_a_stream_that_ends_early_is_no_answer(data: st.DataObject) -> None:
    sends = written(WHOLE, stream=True)
    kept = data.draw(st.integers(0, len(sends) - 1))
    kind, _ = failing(answered(joined(sends[:kept]), "text/event-stream"))
    assert kind == "broken_stream"


FLAT = {"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}


class Broken(http.SyncByteStream):  # type: ignore[misc]
    """A body whose connection fails after these bytes."""

    def __init__(self, data: bytes, error: Exception) -> None:
        self._data, self._error = data, error

    def __iter__(self) -> Iterator[bytes]:
        yield self._data
        raise self._error


@pytest.mark.parametrize("error", [http.ReadError("reset"), http.ReadTimeout("late")])
def test_a_connection_that_fails_in_a_stream_is_a_broken_stream(error: Exception) -> None:
    begun = joined(written(WHOLE, stream=True)[:4])

    def answer(request: http.Request) -> http.Response:
        kind = {"content-type": "text/event-stream"}
        return http.Response(200, headers=kind, stream=Broken(begun, error))

    client = openai.OpenAI(
        api_key="key",
        base_url="http://fake.invalid/v1",
        http_client=http.Client(transport=http.MockTransport(answer)),
    )
    kind, _ = failing(lambda: OpenAIResponsesModel(client, True).query(QUERY))
    assert kind == "broken_stream"


EVENTS: dict[str, tuple[dict[str, Any], FailureKind]] = {
    "flat": (FLAT, "broken_stream"),
    "flat, the request": ({**FLAT, "code": "invalid_request_error"}, "permanent"),
    "flat, too long": ({**FLAT, "code": "context_length_exceeded"}, "overflow"),
    "nested": ({"type": "error", "error": {"type": "server_error"}}, "broken_stream"),
    "nested, the request": (
        {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}},
        "permanent",
    ),
    "nested, too long": (
        {"type": "error", "error": {"code": "context_length_exceeded", "message": "no"}},
        "overflow",
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_error_in_a_stream_is_a_failure(name: str) -> None:
    event, expected = EVENTS[name]
    begun = joined(written(WHOLE, stream=True)[:4])
    kind, _ = failing(answered(begun + streamed({"sequence_number": 4, **event}), "event-stream"))
    assert kind == expected


FAILED: dict[str, FailureKind] = {
    "server_error": "broken_stream",
    "invalid_prompt": "permanent",
    "context_length_exceeded": "overflow",
}


@STREAMS
@pytest.mark.parametrize("code", FAILED)
def test_a_response_that_failed_is_a_failure(code: str, stream: bool) -> None:
    sends = written(Reply((Text("half"),), f"failed:{code}"), stream)
    kind, text = failing(answered(joined(sends), content_type(sends)))
    assert kind == FAILED[code]
    assert text.startswith(f"{code}: ")


STATUSES: dict[tuple[int, str, str], FailureKind] = {
    (400, "invalid_request_error", "context_length_exceeded"): "overflow",
    (400, "invalid_request_error", ""): "permanent",
    (401, "authentication_error", ""): "permanent",
    (413, "request_too_large", ""): "overflow",
    (429, "rate_limit_error", ""): "transient",
    (503, "server_error", ""): "transient",
}


@STREAMS
@pytest.mark.parametrize("case", STATUSES)
def test_an_error_status_is_a_failure(case: tuple[int, str, str], stream: bool) -> None:
    status, type_, code = case
    (send,) = written(ApiError(status, type_, "words", code=code), stream)
    kind, _ = failing(answered(send.data, "application/json", status))
    assert kind == STATUSES[case]


ODD = [b"<html>login</html>", b'{"error": {"message": "x"}}', b'{"status": "queued"}', b"{"]


@pytest.mark.parametrize("data", ODD)
def test_a_success_that_holds_no_response_is_a_failure(data: bytes) -> None:
    for kind in ("application/json", "text/html"):
        assert failing(answered(data, kind))[0] == "broken_stream"


@STREAMS
def test_a_message_that_a_wrapper_wrote_is_a_failure(stream: bool) -> None:
    said = Reply((Text("Prompt is too long"),), "end_turn", {"input_tokens": 0, "output_tokens": 0})
    sends = written(said, stream)
    assert failing(answered(joined(sends), content_type(sends)))[0] == "overflow"
    synthetic = joined(sends).replace(b'"model":"m"', b'"model":"<synthetic>"')
    assert failing(answered(synthetic, content_type(sends)))[0] == "overflow"


def test_a_mistake_in_the_program_surfaces() -> None:
    with pytest.raises(AttributeError):
        OpenAIResponsesModel(None, False).query(QUERY)
