"""Rows of the fault table: context and compaction."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "C1": Row(
            "overflow as HTTP 400",
            "the same recovery for all five",
            "incidents 41, 42",
        ),
        "C2": Row(
            "overflow as HTTP 413",
            "the same recovery for all five",
            "incidents 41, 42",
        ),
        "C3": Row(
            "overflow as an error event of the stream",
            "the same recovery for all five",
            "incidents 41, 42",
        ),
        "C4": Row(
            "overflow as a stop reason",
            "the same recovery for all five",
            "incidents 41, 42",
        ),
        "C5": Row(
            "overflow as a result message or text with usage 0",
            "the same recovery for all five",
            "incidents 41, 42",
        ),
        "C6": Row(
            "window shrinks mid-session (model switch, wrong catalogue)",
            "no loop; compaction to the new window",
            "incidents 58, aaif-goose/goose#11049",
        ),
        "C7": Row(
            "compaction call fails (529, refusal, 400, timeout)",
            "history unchanged, bounded, notice",
            "incidents 39, 40",
        ),
        "C8": Row(
            "summary empty / whitespace / null content",
            "treated as failure; nonblank_content",
            "incidents 15; SDK no-op; read in the SDK's source",
        ),
        "C9": Row(
            "summary same size / larger than original",
            "compaction_progress → stop or other strategy",
            "incidents 43, 53",
        ),
        "C10": Row(
            "summary drops last user message / pinned rule / open tool call",
            "compaction_preserves",
            "incidents 47",
        ),
        "C11": Row(
            "cut lands inside a pair / inside parallel results",
            "tool_pairing (property test over all cuts)",
            "incidents 3-7",
        ),
        "C12": Row(
            "two compactions in sequence",
            "as for C11",
            "incidents 5",
        ),
        "C13": Row(
            "one item larger than the window",
            "item reduced or refused, session lives",
            "incidents 42, 60",
        ),
        "C14": Row(
            "incompressible floor (system + tools >= window)",
            "one honest error",
            "incidents 44, 57",
        ),
        "C15": Row(
            "estimate ≠ provider count (x0.5, x1.5)",
            "no per-turn compaction",
            "incidents 54",
        ),
        "C16": Row(
            "overflow arises inside a tool loop, not at turn start",
            "handled mid-turn",
            "incidents 50",
        ),
        "C17": Row(
            "background memory/title/hook calls also overflow",
            "no effect on main turn",
            "incidents 61",
        ),
        "C18": Row(
            "thinking blocks before the cut (prefix-bound signatures)",
            "drop all or none; valid_request",
            "documented by the provider",
        ),
        "C19": Row(
            "compaction during pause_turn / with unanswered tool call",
            "postponed",
            "runner; read in the SDK's source",
        ),
    }
)
