"""What the OpenAI SDK makes of odd answers, on Chat Completions and on Responses."""

from __future__ import annotations

import msgspec

from harness.core.scenario.scenario import Turn
from tests.wire_table.row import IN_PROCESS, TWO_CALLS, Row

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
            timeout_s=1.5,
        ),
        Row(
            "an error inside a chunk",
            "openai.APIError(service_unavailable_error)",
            "sse.error_event",
        ),
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
            transports=IN_PROCESS,
        ),
        Row(
            "429 with retry-after: 110",
            "3 requests, waits of 110, 110 s: openai.RateLimitError(429, requests)",
            "http.retry_after",
            {"retry_after": 110},
            how="retries",
            transports=IN_PROCESS,
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
