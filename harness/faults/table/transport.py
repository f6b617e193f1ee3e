"""Rows of the fault table: transport."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "T1": Row(
            "connection refused (over loopback a reset)",
            "retry within retry_budget, backoff, then notice",
            "measured with the SDK",
        ),
        "T2": Row(
            "DNS failure (over loopback a reset)",
            "as for T1",
            "",
        ),
        "T3": Row(
            "connect timeout (over loopback silence)",
            "bounded_wait (5 s default)",
            "",
        ),
        "T4": Row(
            "reset before headers",
            "retry; provider may have billed: count generations, effect_once unaffected",
            "incidents 109; measured with the SDK",
        ),
        "T5": Row(
            "close before headers (EOF)",
            "as for T4",
            "measured with the SDK",
        ),
        "T6": Row(
            "request never read, client send blocks (over loopback silence)",
            "bounded_wait",
            "anthropics/claude-agent-sdk-python#533",
        ),
        "T7": Row(
            "headers never come",
            "read timeout → retry <= budget; total wall bounded",
            "incidents 130",
        ),
        "T8": Row(
            "slow-loris headers/body, 1 byte per t",
            "total deadline, not only per-read timeout",
            "",
        ),
        "T9": Row(
            "reset mid-body (non-stream)",
            "retried by SDK as connection error",
            "measured with the SDK",
        ),
        "T10": Row(
            "reset mid-stream",
            "raw `httpx2.ReadError` must be caught; stream_error_handled",
            "UKGovernmentBEIS/inspect_ai#1457; measured with the SDK",
        ),
        "T11": Row(
            "clean FIN mid-chunk",
            "`RemoteProtocolError`, same",
            "incidents 125",
        ),
        "T12": Row(
            "stalled stream, no bytes",
            "bounded_wait; turn ends, cancel works",
            "incidents 122-126",
        ),
        "T13": Row(
            "stalled stream with pings/comments",
            "event-level watchdog needed; read timeout never fires",
            "incidents 122; measured with the SDK",
        ),
        "T14": Row(
            "content-length too large",
            "short read → retry",
            "measured with the SDK",
        ),
        "T15": Row(
            "content-length too small",
            "JSONDecodeError, not retried → must be handled",
            "measured with the SDK",
        ),
        "T16": Row(
            "malformed chunk size / extra bytes",
            "protocol error handled",
            "",
        ),
        "T17": Row(
            "gzip header, plain body; truncated gzip",
            "DecodingError → retry",
            "measured with the SDK",
        ),
        "T18": Row(
            "bad status line, HTTP/0.9, 1xx storm",
            "protocol error handled",
            "measured with the SDK",
        ),
        "T19": Row(
            "proxy 502/503/504 with HTML",
            "retry; body must not enter the history",
            "measured with the SDK",
        ),
        "T20": Row(
            "200 with an HTML login/captive page",
            "`create()` returns str → must end in an error, not in history",
            "measured with the SDK",
        ),
        "T21": Row(
            "3xx redirect, redirect loop",
            "bounded",
            "measured with the SDK",
        ),
        "T22": Row(
            "keep-alive reuse of a dead connection (over loopback only)",
            "one silent retry",
            "",
        ),
        "T23": Row(
            "whole stream in one segment; 1 byte per segment",
            "identical result (metamorphic test)",
            "measured with the SDK",
        ),
        "T24": Row(
            "response before request body is read (413); here it was read",
            "error surfaced, not a broken pipe",
            "incidents 30",
        ),
    }
)
