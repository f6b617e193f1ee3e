"""Rows of the fault table: clock."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "K1": Row(
            "wall clock jumps back / forward (NTP, sleep, DST)",
            "monotonic for timeouts; no negative ages",
            "",
        ),
        "K2": Row(
            "skew against server (retry-after as date)",
            "falls back to backoff",
            "measured with the SDK",
        ),
        "K3": Row(
            "laptop sleep for hours mid-stream",
            "suspend not counted as a stall; one retry, not a storm",
            "incidents 185",
        ),
        "K4": Row(
            "queued timers fire together after idle",
            "coalesced",
            "incidents 97",
        ),
        "K5": Row(
            "thundering herd: N agents, one 529",
            "jitter present: no two retries in the same 100 ms bucket beyond chance",
            "",
        ),
        "K6": Row(
            "backoff without cap / without growth / reset by success of another session",
            "backoff, retry_budget",
            "incidents 45, 74",
        ),
        "K7": Row(
            "equal timestamps for rows",
            "order by sequence",
            "incidents 139 (identical timestamps)",
        ),
        "K8": Row(
            "TTL/lease expiry in a turn (threads, locks, cache)",
            "renew or replay",
            "H17",
        ),
    }
)
