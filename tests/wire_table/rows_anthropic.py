"""What the Anthropic SDK makes of odd streams, odd tool inputs and odd plain bodies."""

from __future__ import annotations

from harness.core.scenario.scenario import Turn
from tests.wire_table.row import IN_PROCESS, ONE_TEXT, Row

WHOLE = 'tool_use: \'ab\'; t({"path":"/a/b"})'


def _input(text: str | list[int] | None, stop: str = "max_tokens") -> Turn:
    call = {"type": "tool_use", "id": "toolu_1", "name": "t", "input": text}
    return Turn(blocks=(call,), stop=stop, times="forever")


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
    Row("a stream that stalls", "httpx2.ReadTimeout", "transport.stalled_stream", timeout_s=1.5),
    Row(
        "a stream that sends only pings for an hour, and ends",
        "None: 'ab'",
        "transport.stalled_stream_with_pings",
        transports=IN_PROCESS,
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
        "`error` event whose data is not JSON",
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
        turn=Turn(say="ab\U0001f600", times="forever"),
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
    Row("tool input that is not JSON", "ValueError", turn=_input('{"p": /x}', "tool_use")),
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
