"""What the real SDKs' clients meet in process, fault by fault."""

from __future__ import annotations

from typing import Any

import pytest

from harness.faults import faults
from tests.faults.asking import ask
from tests.http_library import http

WIRES = ("anthropic", "openai-chat", "openai-responses")
WHOLE = {
    (wire, stream): ask("", wire=wire, stream=stream).words
    for wire in WIRES
    for stream in (False, True)
}
NEUTRAL = (
    "latency",
    "trickle",
    "slow_headers",
    "tiny_segments",
    "one_segment",
    "idle_connection_closed",
    "informational_storm",
    "redirect",
)
"""After these a client reads what it would have read without."""

NO_CONNECTION = (
    "refused",
    "name_not_found",
    "reset_before_headers",
    "close_before_headers",
    "bad_status_line",
    "answer_without_head",
)
NO_TIME = ("connect_timeout", "request_never_read", "headers_never_come")

BROKEN_BODY = {
    "reset_mid_body": "ReadError",
    "cut_mid_chunk": "RemoteProtocolError",
    "content_length_too_large": "RemoteProtocolError",
    "malformed_chunk_size": "RemoteProtocolError",
    "extra_bytes_in_chunk": "RemoteProtocolError",
    "plain_body_as_gzip": "DecodingError",
}
"""A plain body is read within the request, so the SDKs make a connection error of what the HTTP
library raises; of a stream the anthropic SDK hands it on as it is."""

OF_STREAMS = {"reset_mid_stream": "ReadError", "stalled_stream": "ReadTimeout"}


def connection_error(wire: str) -> str:
    return f"{'anthropic' if wire == 'anthropic' else 'openai'}.APIConnectionError"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", NEUTRAL)
def test_the_client_reads_the_same(name: str, wire: str, stream: bool) -> None:
    met = ask(f"transport.{name}", wire=wire, stream=stream)
    assert met.words == WHOLE[wire, stream]
    assert met.fired[:1] == (() if name == "one_segment" and not stream else (f"transport.{name}",))


@pytest.mark.parametrize("size_bytes", [1, 2, 3, 7])
def test_segments_of_any_size_are_read_the_same(size_bytes: int) -> None:
    met = ask("transport.tiny_segments", {"size_bytes": size_bytes})
    assert met.words == WHOLE["anthropic", True]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", NO_CONNECTION)
def test_no_answer_is_a_connection_error(name: str, wire: str, stream: bool) -> None:
    met = ask(f"transport.{name}", wire=wire, stream=stream)
    assert met.fired == (f"transport.{name}",)
    assert met.words.startswith(connection_error(wire))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", NO_TIME)
def test_silence_is_a_time_out(name: str, wire: str, stream: bool) -> None:
    met = ask(f"transport.{name}", wire=wire, stream=stream)
    assert met.fired == (f"transport.{name}",)
    assert met.words.startswith(connection_error(wire).replace("Connection", "Timeout"))
    [answered] = [e for e in met.history.events if getattr(e, "faults", ())]
    assert answered.outcome == "timeout"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("refused", "ConnectError"),
        ("name_not_found", "ConnectError"),
        ("connect_timeout", "ConnectTimeout"),
        ("request_never_read", "WriteTimeout"),
        ("headers_never_come", "ReadTimeout"),
        ("reset_before_headers", "ReadError"),
        ("close_before_headers", "RemoteProtocolError"),
        ("bad_status_line", "RemoteProtocolError"),
        ("answer_without_head", "RemoteProtocolError"),
    ],
)
def test_the_cause_is_the_librarys_own_error(name: str, error: str) -> None:
    met = ask(f"transport.{name}")
    assert met.error is not None
    assert type(met.error.__cause__).__name__ == error


@pytest.mark.parametrize("name", BROKEN_BODY)
def test_a_broken_body_is_a_connection_error_plain_and_raw_in_a_stream(name: str) -> None:
    plain, streamed = (ask(f"transport.{name}", stream=stream) for stream in (False, True))
    assert plain.fired == streamed.fired == (f"transport.{name}",)
    assert plain.words.startswith(connection_error("anthropic"))
    assert plain.error is not None
    assert type(plain.error.__cause__).__name__ == BROKEN_BODY[name]
    assert streamed.words.startswith(f"{http.__name__}.{BROKEN_BODY[name]}")


@pytest.mark.parametrize("name", OF_STREAMS)
def test_what_needs_a_stream(name: str) -> None:
    assert ask(f"transport.{name}", stream=False).fired == ()
    met = ask(f"transport.{name}")
    assert met.fired == (f"transport.{name}",)
    assert met.words.startswith(f"{http.__name__}.{OF_STREAMS[name]}")


@pytest.mark.parametrize("settings", [{}, {"comments": True}])
def test_stalled_stream_with_pings_never_times_out(settings: dict[str, Any]) -> None:
    kind = "transport.stalled_stream_with_pings"
    met = ask(kind, {"for_s": 36_000, "every_s": 590, **settings})
    assert (met.fired, met.words) == ((kind,), "None: 'Hello, wörld 😀'")
    assert ask(kind, {"for_s": 36_000, "every_s": 610, **settings}).words.startswith(
        f"{http.__name__}.ReadTimeout"
    )
    assert ask(kind, stream=False).fired == ()


@pytest.mark.parametrize("name", ["truncated_gzip", "content_length_too_small"])
def test_a_body_that_is_shorter_than_it_was_is_no_json(name: str) -> None:
    met = ask(f"transport.{name}", stream=False)
    assert met.fired == (f"transport.{name}",)
    assert met.words.startswith("json.JSONDecodeError")


def test_truncated_gzip_in_a_stream_is_a_success_without_an_end() -> None:
    met = ask("transport.truncated_gzip")
    assert met.words.startswith("None: ")


def test_content_length_too_small_in_a_stream_loses_its_last_bytes() -> None:
    few = ask("transport.content_length_too_small", {"by_bytes": 10})
    many = ask("transport.content_length_too_small", {"by_bytes": 200})
    assert few.words == WHOLE["anthropic", True]
    assert many.words.startswith("None: ")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [502, 503, 504])
def test_proxy_error_has_a_status_and_no_type(status: int, stream: bool) -> None:
    met = ask("transport.proxy_error", {"status": status}, stream=stream)
    assert met.fired == ("transport.proxy_error",)
    assert getattr(met.error, "status_code", None) == status
    assert getattr(met.error, "type", None) is None


def test_login_page_is_a_str_or_an_empty_error() -> None:
    assert ask("transport.login_page", stream=False).words.startswith("a str: '<!DOCTYPE html>")
    assert ask("transport.login_page", stream=True).words == "AssertionError"


@pytest.mark.parametrize("wire", WIRES)
def test_redirect_is_one_more_call(wire: str) -> None:
    met = ask("transport.redirect", {"status": 308}, wire=wire)
    assert met.words == WHOLE[wire, True]
    assert met.history.past.calls["model"] == 2


@pytest.mark.parametrize("wire", WIRES)
def test_redirect_as_get_is_refused_by_the_endpoint(wire: str) -> None:
    met = ask("transport.redirect_as_get", {"status": 303}, wire=wire)
    assert met.fired == ("transport.redirect_as_get",)
    assert getattr(met.error, "status_code", None) == 405
    assert met.history.past.calls["model"] == 1


@pytest.mark.parametrize("wire", WIRES)
def test_answered_before_read_is_an_error_with_a_status(wire: str) -> None:
    met = ask("transport.answered_before_read", wire=wire)
    assert met.fired == ("transport.answered_before_read",)
    assert getattr(met.error, "status_code", None) == 413


def test_every_fault_of_the_layer_is_in_a_test_here() -> None:
    tested = {*NEUTRAL, *NO_CONNECTION, *NO_TIME, *BROKEN_BODY, *OF_STREAMS}
    tested |= {"stalled_stream_with_pings", "truncated_gzip", "content_length_too_small"}
    tested |= {"proxy_error", "login_page", "redirect_as_get", "answered_before_read"}
    assert {kind for kind in faults() if kind.startswith("transport.")} == {
        f"transport.{name}" for name in tested
    }
