"""The rows as data: a fault, and what surfaced from the SDK when it was first measured.

The first measurements were made with anthropic 2.11 and openai 3.52 against a raw socket. `says` is
in the words of `measure`: a parsed message as `stop: blocks`, an exception by its class with status
and type, never by its text, which changes with versions.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.core.scenario import Turn

How = Literal["stream", "raw", "plain", "retries"]

SAYS = Turn(
    blocks=(
        {"type": "text", "text": "ab"},
        {"type": "tool_use", "id": "toolu_1", "name": "t", "input": {"path": "/a/b"}},
    ),
    times="forever",
)
ONE_TEXT = Turn(say="ab", times="forever")
TWO_CALLS = Turn(
    blocks=(
        {"type": "tool_use", "id": "call_1", "name": "f", "input": {"a": 1}},
        {"type": "tool_use", "id": "call_2", "name": "g", "input": {"b": 2}},
    ),
    times="forever",
)


class Row(msgspec.Struct, frozen=True):
    """A fault in words, how it is made, and what it led to.

    `how`: the SDK's stream helper, raw iteration of a stream, a plain answer, or the number of
    requests and the waits between them where every request fails. `doors` leaves a door out that
    has no such thing, or would have to wait for real.
    """

    what: str
    says: str
    kind: str = ""
    settings: dict[str, Any] = {}
    wire: str = "anthropic"
    how: How = "stream"
    turn: Turn = SAYS
    doors: tuple[Literal["in process", "loopback"], ...] = ("in process", "loopback")
    timeout_s: float = 600


WHOLE = 'tool_use: \'ab\'; t({"path":"/a/b"})'
IN_PROCESS: tuple[Literal["in process"]] = ("in process",)


def _input(text: str | list[int] | None, stop: str = "max_tokens") -> Turn:
    call = {"type": "tool_use", "id": "toolu_1", "name": "t", "input": text}
    return Turn(blocks=(call,), stop=stop, times="forever")


def _retried(status: int, name: str) -> Row:
    says = f"3 requests, waits of 0.5, 1 s: anthropic.{name}"
    settings = {"status": status}
    return Row(f"status {status}", says, "http.status", settings, how="retries", doors=IN_PROCESS)


def _refused(status: int, name: str) -> Row:
    says, settings = f"1 request: anthropic.{name}", {"status": status}
    return Row(f"status {status}", says, "http.status", settings, how="retries", doors=IN_PROCESS)


def _after(value: str | float, waits: str) -> Row:
    says = f"3 requests, waits of {waits} s: anthropic.RateLimitError(429, rate_limit_error)"
    settings = {"retry_after": value}
    what = f"429 with retry-after: {value}"
    return Row(what, says, "http.retry_after", settings, how="retries", doors=IN_PROCESS)


RETRIES = (
    _refused(400, "BadRequestError(400, invalid_request_error)"),
    _refused(401, "AuthenticationError(401, authentication_error)"),
    _refused(402, "PaymentRequiredError(402, billing_error)"),
    _refused(413, "ContentTooLargeError(413, request_too_large)"),
    _retried(409, "ConflictError(409, conflict_error)"),
    _retried(429, "RateLimitError(429, rate_limit_error)"),
    _retried(500, "InternalServerError(500, api_error)"),
    _retried(504, "GatewayTimeoutError(504, timeout_error)"),
    _retried(529, "OverloadedError(529, overloaded_error)"),
    Row(
        "status 400 with x-should-retry: true",
        "3 requests, waits of 0.5, 1 s: anthropic.BadRequestError(400, invalid_request_error)",
        "http.status",
        {"status": 400, "should_retry": True},
        how="retries",
        doors=IN_PROCESS,
    ),
    Row(
        "status 529 with x-should-retry: false",
        "1 request: anthropic.OverloadedError(529, overloaded_error)",
        "http.status",
        {"status": 529, "should_retry": False},
        how="retries",
        doors=IN_PROCESS,
    ),
    _after(7, "7, 7"),
    _after(86400, "86400, 86400"),
    _after(0, "0.5, 1"),
    _after(-5, "0.5, 1"),
    _after("nan", "0.5, 1"),
    _after("soon", "0.5, 1"),
    _after("Wed, 21 Oct 2015 07:28:00 GMT", "0.5, 1"),
    Row(
        "429 with retry-after-ms: 1500 and retry-after: 30",
        "3 requests, waits of 1.5, 1.5 s: anthropic.RateLimitError(429, rate_limit_error)",
        "http.retry_after_ms",
        {"retry_after_ms": 1500},
        how="retries",
        doors=IN_PROCESS,
    ),
    Row(
        "status 408",
        "3 requests, waits of 0.5, 1 s: anthropic.RequestTimeoutError(408, timeout_error)",
        "http.request_timeout",
        how="retries",
        doors=IN_PROCESS,
    ),
    Row(
        "a plain body that says it is gzip",
        "3 requests, waits of 0.5, 1 s: anthropic.APIConnectionError",
        "transport.plain_body_as_gzip",
        how="retries",
        doors=IN_PROCESS,
    ),
    Row(
        "reset before the head of an answer",
        "3 requests, waits of 0.5, 1 s: anthropic.APIConnectionError",
        "transport.reset_before_headers",
        how="retries",
        doors=IN_PROCESS,
    ),
    Row(
        "a plain body that stops short",
        "3 requests, waits of 0.5, 1 s: anthropic.APIConnectionError",
        "transport.content_length_too_large",
        how="retries",
        doors=IN_PROCESS,
    ),
)

STREAMS = (
    Row("nothing wrong", WHOLE),
    Row("clean EOF without message_stop", WHOLE, "sse.no_message_stop"),
    Row(
        "clean EOF without message_delta",
        WHOLE.replace("tool_use", "None", 1),
        "sse.no_message_delta",
    ),
    Row("clean EOF in the middle of tool JSON", "None: 'ab'; t({})", "sse.end_inside_tool_input"),
    Row("reset in the middle of a stream", "httpx2.ReadError", "transport.reset_mid_stream"),
    Row(
        "end of the connection in the middle of a chunk",
        "httpx2.RemoteProtocolError",
        "transport.cut_mid_chunk",
    ),
    Row("a stream that stalls", "httpx2.ReadTimeout", "transport.stalled_stream", timeout_s=0.3),
    Row(
        "a stream that sends only pings for an hour, and ends",
        "None: 'ab'",
        "transport.stalled_stream_with_pings",
        doors=IN_PROCESS,
        timeout_s=60,
    ),
    Row(
        "`error` event in the middle",
        "anthropic.APIStatusError(200, overloaded_error)",
        "sse.error_event",
    ),
    Row(
        "`error` event after message_stop",
        "anthropic.APIStatusError(200, overloaded_error)",
        "sse.error_event_after_the_end",
    ),
    Row(
        "`error` event whose data is no JSON",
        "anthropic.APIStatusError(200)",
        "sse.error_event_not_json",
    ),
    Row("malformed JSON in data", "json.JSONDecodeError", "sse.invalid_json"),
    Row("invalid UTF-8", "UnicodeDecodeError", "sse.invalid_utf8"),
    Row("a JSON body to a stream request", "AssertionError", "sse.json_to_a_stream_request"),
    Row("an HTML body to a stream request", "AssertionError", "transport.login_page"),
    Row("events without an `event:` line", "AssertionError", "sse.no_event_names"),
    Row("a gap in the indices", "IndexError", "sse.index_gap"),
    Row("a delta before its block", "IndexError", "sse.delta_before_its_block"),
    Row("message_start twice", WHOLE, "sse.message_start_twice"),
    Row("content_block_start twice", "tool_use: 'ab'; ''; t({})", "sse.block_start_twice"),
    Row("content_block_stop twice", WHOLE, "sse.block_stop_twice"),
    Row(
        "events before message_start", "end_turn: nothing", "sse.late_message_start", turn=ONE_TEXT
    ),
    Row("blocks that are interleaved", WHOLE, "sse.interleaved_blocks"),
    Row("a delta of another kind than its block", WHOLE, "sse.delta_of_another_kind"),
    Row("an unknown delta", WHOLE, "sse.unknown_delta"),
    Row("an unknown event", WHOLE, "sse.unknown_event"),
    Row("an unknown block", WHOLE + "; hologram", "sse.unknown_block"),
    Row("an unknown stop reason", "bored: 'ab'", turn=Turn(say="ab", stop="bored")),
    Row("lines that end with CR", WHOLE, "sse.carriage_return_line_ends"),
    Row("lines that end with CR and LF, cut between them", WHOLE, "sse.crlf_split"),
    Row("segments of one byte", WHOLE, "transport.tiny_segments"),
    Row("a last event without its empty line", WHOLE, "sse.no_last_blank_line"),
    Row("20,000 pings", WHOLE, "sse.ping_flood", {"pings": 20_000}),
    Row("message_delta twice", WHOLE, "sse.message_delta_twice"),
    Row(
        "an emoji in two pieces, half a pair each",
        "end_turn: 'ab\\ud83d\\ude00'",
        "sse.surrogate_pair_split",
        turn=ONE_TEXT,
    ),
)

INPUTS = (
    Row(
        "tool input cut in a key",
        'max_tokens: t({"path":"/a/b"})',
        turn=_input('{"path":"/a/b","con'),
    ),
    Row("tool input cut in a number", 'max_tokens: t({"n":12})', turn=_input('{"n": 12')),
    Row(
        "tool input of two objects",
        'tool_use: t({"a":1})',
        turn=_input('{"a":1}{"b":2}', "tool_use"),
    ),
    Row("tool input that is a list", "tool_use: t([1,2])", turn=_input([1, 2], "tool_use")),
    Row("tool input that is null", "tool_use: t(null)", turn=_input(None, "tool_use")),
    Row("tool input that is no JSON", "ValueError", turn=_input('{"p": /x}', "tool_use")),
)

BODIES = (
    Row("200 with HTML", "a str", "transport.login_page", how="plain"),
    Row("200 with an empty body", "json.JSONDecodeError", "http.empty_body", how="plain"),
    Row("200 with malformed JSON", "json.JSONDecodeError", "http.malformed_body", how="plain"),
    Row(
        "200 with JSON shorter than it was",
        "json.JSONDecodeError",
        "transport.content_length_too_small",
        how="plain",
    ),
    Row(
        "200 with an error envelope", "None: nothing", "http.error_envelope_under_200", how="plain"
    ),
    Row("200 with a stream of events", "a str", "sse.stream_to_a_plain_request", how="plain"),
)

CHAT_WHOLE = 'tool_calls: \'ab\'; toolu_1: t({"path":"/a/b"})'
GLUED = 'tool_calls: None; call_1call_2: fg({"a":1}{"b":2})'
CHAT = tuple(
    msgspec.structs.replace(row, wire="openai-chat")
    for row in (
        Row("nothing wrong", CHAT_WHOLE),
        Row("no [DONE]", CHAT_WHOLE, "sse.no_message_stop"),
        Row(
            "no finish_reason", CHAT_WHOLE.replace("tool_calls", "None", 1), "sse.no_finish_reason"
        ),
        Row("no finish_reason, raw", "None: 'ab'", "sse.no_finish_reason", how="raw"),
        Row(
            "reset in the middle of a stream",
            "openai.APIConnectionError",
            "transport.reset_mid_stream",
        ),
        Row("cut in the middle of a chunk", "openai.APIConnectionError", "transport.cut_mid_chunk"),
        Row(
            "a stream that stalls",
            "openai.APITimeoutError",
            "transport.stalled_stream",
            timeout_s=0.3,
        ),
        Row("an error inside a chunk", "openai.APIError(overloaded_error)", "sse.error_event"),
        Row("malformed JSON in data", "json.JSONDecodeError", "sse.invalid_json"),
        Row("comment lines", CHAT_WHOLE, "sse.comment_flood"),
        Row(
            "finish_reason length",
            "openai.LengthFinishReasonError",
            turn=Turn(say="ab", stop="max_tokens"),
        ),
        Row(
            "finish_reason content_filter",
            "openai.ContentFilterFinishReasonError",
            turn=Turn(say="ab", stop="refusal"),
        ),
        Row("all calls at index 0", GLUED, "sse.calls_all_at_index_0", turn=TWO_CALLS),
        Row(
            "calls without an id",
            CHAT_WHOLE.replace("toolu_1", "None"),
            "sse.call_without_id",
        ),
        Row("a chunk without choices", CHAT_WHOLE, "sse.usage_without_choices"),
        Row(
            "200 with an error envelope", "no choices", "http.error_envelope_under_200", how="plain"
        ),
        Row("200 with HTML", "a str", "transport.login_page", how="plain"),
        Row(
            "429 with retry-after: 86400",
            "1 request: openai.RateLimitError(429, requests)",
            "http.retry_after",
            {"retry_after": 86400},
            how="retries",
            doors=IN_PROCESS,
        ),
        Row(
            "429 with retry-after: 110",
            "3 requests, waits of 110, 110 s: openai.RateLimitError(429, requests)",
            "http.retry_after",
            {"retry_after": 110},
            how="retries",
            doors=IN_PROCESS,
        ),
    )
)

NOT_COMPLETED = "RuntimeError"
RESPONSES = tuple(
    msgspec.structs.replace(row, wire="openai-responses")
    for row in (
        Row("nothing wrong", 'completed: \'ab\'; t({"path":"/a/b"})'),
        Row("EOF without response.completed", NOT_COMPLETED, "sse.no_message_stop"),
        Row("response.failed", NOT_COMPLETED, "sse.response_failed"),
        Row("response.incomplete", NOT_COMPLETED, "sse.response_incomplete"),
        Row("a flat error event", NOT_COMPLETED, "sse.error_event"),
        Row("a nested error event", "openai.APIError(server_error)", "sse.nested_error_event"),
        Row(
            "EOF without response.completed, raw",
            "the last is response.output_item.done",
            "sse.no_message_stop",
            how="raw",
        ),
        Row(
            "response.failed, raw",
            "the last is response.failed",
            "sse.response_failed",
            how="raw",
        ),
        Row("a flat error event, raw", "the last is error", "sse.error_event", how="raw"),
        Row(
            "a nested error event, raw",
            "openai.APIError(server_error)",
            "sse.nested_error_event",
            how="raw",
        ),
    )
)

ROWS: tuple[Row, ...] = (*RETRIES, *STREAMS, *INPUTS, *BODIES, *CHAT, *RESPONSES)
