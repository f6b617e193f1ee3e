"""Rows of the fault table: server-sent events."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "S1": Row(
            "missing message_stop",
            "SDK: success; acceptable only if message_delta came",
            "measured with the SDK",
        ),
        "S2": Row(
            "missing message_delta (stop None)",
            "not complete: stream_error_handled, no tool run",
            'nicobailon/pi-subagents#436 ("ended without finish_reason")',
        ),
        "S3": Row(
            "EOF inside tool JSON",
            "args_complete (SDK gives {} or a prefix with stop None)",
            "home-assistant/core#14151; measured with the SDK",
        ),
        "S4": Row(
            "EOF after preamble text, before tool",
            "outbound_once on retry",
            "incidents 137",
        ),
        "S5": Row(
            "`error` event first / mid-text / mid-tool / after message_stop",
            "APIStatusError(200) recognised by type; retry class by type, not status",
            "incidents 108; measured with the SDK",
        ),
        "S6": Row(
            "error event, non-JSON data",
            "handled",
            "measured with the SDK",
        ),
        "S7": Row(
            "invalid JSON in data; invalid UTF-8",
            "bare JSONDecodeError/UnicodeDecodeError handled",
            "measured with the SDK",
        ),
        "S8": Row(
            "duplicate message_start / block_start / block_stop / message_delta",
            "no doubled text; SDK glues text of same index",
            "incidents 21; measured with the SDK",
        ),
        "S9": Row(
            "index gap, delta before start, stop twice",
            "IndexError handled",
            "measured with the SDK",
        ),
        "S10": Row(
            "interleaved blocks",
            "correct assembly",
            "measured with the SDK",
        ),
        "S11": Row(
            "delta kind ≠ block kind; unknown delta/event/block",
            "ignored, no crash",
            "measured with the SDK",
        ),
        "S12": Row(
            "ping flood, comment flood, 10⁵ tiny deltas",
            "bounded memory/CPU; watchdog counts content only",
            "incidents 122",
        ),
        "S13": Row(
            (
                "CR, CRLF, LF; CRLF split over chunks; no space after `data:`; no trailing "
                "blank line"
            ),
            "chunking_neutral",
            "incidents 184; measured with the SDK",
        ),
        "S14": Row(
            "UTF-8 character split over TCP segments",
            "chunking_neutral",
            "incidents 183; measured with the SDK",
        ),
        "S15": Row(
            "surrogate pair split over two deltas",
            "rejoin or replace; never store lone halves",
            "measured with the SDK",
        ),
        "S16": Row(
            "`event:` line missing / data-only SSE",
            "SDK drops all, AssertionError → handled",
            "measured with the SDK",
        ),
        "S17": Row(
            "OpenAI: missing [DONE], missing finish_reason",
            "as S1/S2",
            "incidents 109; measured with the SDK",
        ),
        "S18": Row(
            "OpenAI: all tool deltas index 0 / no id / id late / id repeated in each delta",
            "delta_assembly",
            "incidents 119; measured with the SDK",
        ),
        "S19": Row(
            "OpenAI: usage chunk with empty choices",
            "no IndexError",
            "",
        ),
        "S20": Row(
            "Responses: EOF before completed; `failed`; `incomplete`; flat vs nested error",
            "each told apart",
            "incidents 109; measured with the SDK",
        ),
        "S21": Row(
            "Responses: sequence_number gaps / repeats",
            "detect or ignore, never double",
            "",
        ),
        "S22": Row(
            "finish_reason on an intermediate chunk",
            "wait for end",
            "incidents 120",
        ),
        "S23": Row(
            "usage only in message_start / decreasing / huge",
            "cost accounting keeps the last, no negative",
            "",
        ),
        "S24": Row(
            "JSON body to a stream request, SSE to a non-stream request",
            "handled",
            "measured with the SDK",
        ),
    }
)
