"""Rows of the fault table: persistence."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "P1": Row(
            "kill -9 before / inside / after each write",
            "reload_equivalence for every n",
            "incidents 160, 162, 172",
        ),
        "P2": Row(
            "kill between reply delivery and persist, and between persist and delivery",
            "deliver_implies_durable; outbound_once after restart",
            "incidents 174, 153",
        ),
        "P3": Row(
            "kill between tool effect and result row",
            "effect_once",
            "incidents 155, 156",
        ),
        "P4": Row(
            "torn last JSONL line (cut at every byte)",
            "tail dropped and newline repaired before append",
            "incidents 162-165; measured with the SDK",
        ),
        "P5": Row(
            "NUL run / garbage line in the middle",
            "reported, rest loaded",
            "incidents 164",
        ),
        "P6": Row(
            "U+2028/U+0085 inside text",
            "`str.splitlines` splits it into 3; iterate by \\n",
            "incidents 166; measured with the SDK",
        ),
        "P7": Row(
            "SQLITE_BUSY, timeout 0 / longer than timeout",
            "no_silent_loss",
            "incidents 167-170; measured with the SDK",
        ),
        "P8": Row(
            "SQLITE_BUSY_SNAPSHOT: read txn upgraded after another commit",
            "fails at once in spite of busy_timeout; needs restart of the txn",
            "incidents 168; measured with the SDK",
        ),
        "P9": Row(
            "disk full",
            "store_error_handled; retry when space is back",
            "incidents 171",
        ),
        "P10": Row(
            "EIO, EROFS, EACCES, directory removed, quota",
            "as for P9",
            "",
        ),
        "P11": Row(
            "fsync lost: all un-fsynced writes vanish / reordered",
            "durable_first",
            "incidents 164",
        ),
        "P12": Row(
            "rename not durable / temp file left behind",
            "old or new file, never none",
            "",
        ),
        "P13": Row(
            "stale cursor/offset file",
            "inbound_exactly_once",
            "incidents 141, 142",
        ),
        "P14": Row(
            "two processes on one session",
            "turn_serial; loser refuses",
            "incidents 146, 153",
        ),
        "P15": Row(
            (
                "reload of a history with each violation (orphan, dup id, blank, trailing "
                "assistant, half stream, foreign roles)"
            ),
            "session_heals",
            "incidents 13, 14, 34",
        ),
        "P16": Row(
            "rows out of order / duplicated / missing one",
            "detected; reload_valid",
            "incidents 176, home-assistant/core#115493",
        ),
        "P17": Row(
            "schema migration / older version's rows",
            "loads",
            "incidents 14",
        ),
        "P18": Row(
            "rollback forgotten (Python default isolation, no commit)",
            "lost on kill → durable_first",
            "measured with the SDK",
        ),
        "P19": Row(
            "very large session (10⁴ rows, 50 MB)",
            "bounded load time",
            "incidents 26, 166",
        ),
        "P20": Row(
            "store read fails once at start",
            'not "feature off for ever"',
            "incidents 169",
        ),
        "P21": Row(
            "live history differs from stored (in-place repair)",
            "reload_equivalence",
            "incidents 37",
        ),
    }
)
