"""Rows of the fault table: HTTP and API errors."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "H1": Row(
            "400 for each rule of the wire, once / for ever",
            "no_blind_resend, session_heals",
            "incidents 1-37",
        ),
        "H2": Row(
            "400 prompt too long, counts in text",
            "compaction <= C, compaction_progress",
            "incidents 38-61",
        ),
        "H3": Row(
            "400 for the compaction request",
            "compaction_preserves; escalate (drop oldest, ask user)",
            "incidents 40, 41",
        ),
        "H4": Row(
            "401/403 mid-conversation (key rotated)",
            "end turn, notice, no retry; resumes when key is back",
            "dev.to article only",
        ),
        "H5": Row(
            "402 / 400 spend limit / 429 spend limit",
            "no_blind_resend although status is 429",
            "incidents 103; measured with the SDK",
        ),
        "H6": Row(
            "404 model gone",
            "terminal or declared fallback; history unchanged",
            "",
        ),
        "H7": Row(
            "408, 409",
            "retried; 409 thread in flight → wait",
            "measured with the SDK",
        ),
        "H8": Row(
            "413 JSON / 413 HTML",
            "shrink bytes, not tokens",
            "incidents 30",
        ),
        "H9": Row(
            "429 without retry-after",
            "backoff",
            "incidents 113",
        ),
        "H10": Row(
            (
                '429 retry-after: 1, 0, -5, 1.5, HTTP date, past date, NaN, "soon", 86400, '
                "1e9; retry-after-ms"
            ),
            "backoff; cap; openai gives up >120 s, anthropic sleeps",
            "incidents 103; measured with the SDK",
        ),
        "H11": Row(
            "500 once / always",
            "retry_budget over all layers",
            "incidents 104",
        ),
        "H12": Row(
            "504, 529 bursts (k of n)",
            "as H11 + jitter visible",
            "incidents 108",
        ),
        "H13": Row(
            "x-should-retry true on 400 / false on 529",
            "SDK obeys; agent layer must not double",
            "measured with the SDK",
        ),
        "H14": Row(
            "200 with error envelope / empty / malformed body",
            "detected; no TypeError crash",
            "incidents 187; measured with the SDK",
        ),
        "H15": Row(
            "200 with content null / missing usage / unknown stop / unknown block",
            "tolerant reading, truthful_outcome",
            "measured with the SDK",
        ),
        "H16": Row(
            "model echo differs / fallback block",
            "cost by real model; history faithful",
            "",
        ),
        "H17": Row(
            "thread_not_found / already_continued / in_flight / fingerprint / unsupported",
            "SDK replays full history; no duplicate effects",
            "measured with the SDK",
        ),
        "H18": Row(
            "capability change mid-session (prefill, system role, thinking type)",
            "valid_request after adaptation",
            "incidents 33, QwenLM/Qwen#2244",
        ),
        "H19": Row(
            "validation tightened between sessions (whitespace rule)",
            "session_heals for old stores",
            "incidents 13, 14",
        ),
        "H20": Row(
            "count_tokens disagrees with messages (±30 %)",
            "no compaction loop",
            "incidents 54",
        ),
        "H21": Row(
            "nested retries: SDK x agent x job",
            "Σ attempts <= budget (x-stainless-retry-count separates layers)",
            "incidents 104, 106",
        ),
    }
)
