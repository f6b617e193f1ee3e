"""The model over Chat Completions: every way in which no answer comes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.agent.openai_chat_stand import Stand, call, chunks, completion, failure_of
from tests.http_library import openai_http as http


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("deltas", [(), ({"content": "x"},), (call(0, "a", "read", '{"p":'),)])
def test_a_stream_that_does_not_say_why_it_ends_is_broken(
    deltas: tuple[dict[str, Any], ...], done: bool
) -> None:
    stand = Stand(chunks(*deltas, reason=None, done=done), stream=True)
    assert failure_of(stand).kind == "broken_stream"


class Torn(http.SyncByteStream):  # type: ignore[misc]
    """A body whose connection fails after the first piece."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        yield chunks({"content": "x"}, reason=None, done=False)
        raise self._error


@pytest.mark.parametrize("error", [http.ReadError("reset"), http.ReadTimeout("silence")])
def test_a_connection_that_fails_in_an_answer_breaks_it(error: Exception) -> None:
    failure = failure_of(Stand(Torn(error), stream=True))
    assert failure.kind == "broken_stream"


@pytest.mark.parametrize("stream", [False, True])
def test_a_connection_that_fails_before_it_may_work_the_next_time(stream: bool) -> None:
    failure = failure_of(Stand(http.ConnectError("refused"), stream))
    assert failure.kind == "transient"


OVER = "This model's maximum context length is 10 tokens. However, you sent 12."


def error(message: str = "no", **more: Any) -> dict[str, Any]:
    """An envelope."""
    return {"error": {"message": message, "type": "server_error", "param": None, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error(OVER, code="context_length_exceeded"), "overflow"),
        (413, error(), "overflow"),
        (400, error(), "permanent"),
        (401, error(), "permanent"),
        (429, error(), "transient"),
        (500, error(), "transient"),
        (503, b"<html>busy</html>", "transient"),
        (200, b"<html>hello</html>", "broken_stream"),
        (200, error(), "broken_stream"),
        (200, error(OVER), "overflow"),
        (200, completion(None, content="x"), "broken_stream"),
        (200, completion(None, content=OVER), "broken_stream"),
        (200, {"choices": []}, "broken_stream"),
    ],
)
def test_a_failure_has_its_kind(status: int, body: Any, kind: str) -> None:
    assert failure_of(Stand(body, status=status)).kind == kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (error(), "broken_stream"),
        (error(type="invalid_request_error"), "permanent"),
        (error(OVER), "overflow"),
    ],
)
def test_an_error_inside_a_stream_has_its_kind(body: dict[str, Any], kind: str) -> None:
    begun = chunks({"content": "x"}, reason=None, done=False)
    stand = Stand(begun + f"data: {json.dumps(body)}\n\n".encode(), stream=True)
    assert failure_of(stand).kind == kind


@pytest.mark.parametrize("bytes_", [b"data: {nonsense\n\n", b"data: \xff\xfe\n\n"])
def test_odd_bytes_break_a_stream(bytes_: bytes) -> None:
    assert failure_of(Stand(bytes_, stream=True)).kind == "broken_stream"


def test_an_overflow_that_is_dressed_as_an_answer_is_no_answer() -> None:
    dressed = completion("stop", content="Prompt is too long") | {"usage": {"total_tokens": 0}}
    assert failure_of(Stand(dressed)).kind == "overflow"
    synthetic = completion("stop", content="API Error") | {"model": "<synthetic>"}
    assert failure_of(Stand(synthetic)).kind == "permanent"
