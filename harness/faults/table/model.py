"""Rows of the fault table: model semantics."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "M1": Row(
            "empty content, end_turn",
            "empty_turn_handled: <=2 changed retries, then report; nothing empty stored",
            "incidents 101, 110, 111",
        ),
        "M2": Row(
            "whitespace-only text",
            "as M1; nonblank_content later",
            "incidents 14-16",
        ),
        "M3": Row(
            "thinking only",
            "as M1; thinking kept intact",
            "incidents 112",
        ),
        "M4": Row(
            'text "" + tool_use',
            "store without blank block",
            "incidents 14",
        ),
        "M5": Row(
            "empty tool input {} where args are required",
            "schema error back to the model; K times → stop",
            "incidents 67, 114",
        ),
        "M6": Row(
            '{} / "" where no args are needed',
            "executes",
            "incidents 118",
        ),
        "M7": Row(
            "truncated tool JSON at max_tokens (cut in key, string, number, array)",
            "args_complete; next try must differ (more tokens or smaller call)",
            "incidents 114-117; measured with the SDK",
        ),
        "M8": Row(
            "args of wrong type: list, null, string with JSON inside, NaN",
            "schema error, not a crash",
            "home-assistant/core#79519 (string-repr)",
        ),
        "M9": Row(
            "extra / hallucinated args",
            "error or ignore by policy, visible",
            "measured with the SDK",
        ),
        "M10": Row(
            "unknown tool; wrong case; name with prefix",
            "error result listing tools; no_progress_stop",
            "incidents 121, Significant-Gravitas/AutoGPT#920",
        ),
        "M11": Row(
            "tool removed mid-conversation still called",
            "error result",
            "read in the SDK's source",
        ),
        "M12": Row(
            "duplicate tool ids in one reply / over turns / empty id / id = name",
            "executed at most once per block, ids repaired before replay",
            "incidents 21-24; measured with the SDK",
        ),
        "M13": Row(
            ("parallel calls: 2, 20, 100; one fails; one hangs; order of completion shuffled"),
            "all answered, in one turn, tool_pairing; finished ones not repeated",
            "incidents 10, 186",
        ),
        "M14": Row(
            "tool_use block but stop end_turn / max_tokens / refusal / None",
            "not executed; history still valid (answer or drop)",
            "incidents 116; measured with the SDK",
        ),
        "M15": Row(
            "stop tool_use without a block",
            "ends, truthful",
            "measured with the SDK",
        ),
        "M16": Row(
            "identical call for ever, identical result",
            "no_progress_stop",
            "incidents 62-69",
        ),
        "M17": Row(
            "identical *failing* call",
            "no_progress_stop (same failure)",
            "incidents 67, 79",
        ),
        "M18": Row(
            "A-B-A-B; A-B-C; period up to 4",
            "no_progress_stop",
            "incidents 76-78",
        ),
        "M19": Row(
            "same tool, varying args (counter, path, query), no new result",
            "near variant / bounded_turn",
            "incidents 73, 82",
        ),
        "M20": Row(
            "same args, result changes (poll until done)",
            "no_false_stop",
            "incidents 75, 76",
        ),
        "M21": Row(
            "identical calls many in one reply",
            "counted inside the batch",
            "yologdev/yoagent#145",
        ),
        "M22": Row(
            "endless new tool calls (never final)",
            "bounded_turn with truthful end",
            "incidents 83, 177",
        ),
        "M23": Row(
            'text says "I stop" but calls go on',
            "calls count, text does not",
            "incidents 67",
        ),
        "M24": Row(
            "refusal (200, empty or partial) with categories; refusal after partial tool",
            "no_blind_resend; message to user; fallback once",
            "incidents 100, 101",
        ),
        "M25": Row(
            "pause_turn k times / for ever",
            "resend unchanged, bounded",
            "measured with the SDK",
        ),
        "M26": Row(
            "model_context_window_exceeded",
            "like truncation + compaction",
            "documented by the provider",
        ),
        "M27": Row(
            "degenerate repetition to max_tokens",
            "budget_ceiling; identical retry detected",
            "incidents 87, 88",
        ),
        "M28": Row(
            "stop_sequence hit inside tool JSON",
            "args_complete",
            "",
        ),
        "M29": Row(
            "text imitates tool call / tool result / system note",
            "never executed or trusted",
            "",
        ),
        "M30": Row(
            "spawns itself: sub-agent call in child; 2, 5-way fan-out",
            "bounded_spawn",
            "incidents 89-91",
        ),
        "M31": Row(
            "emits lone surrogate, U+2028, NUL, 10 MB text, RTL/ZWJ",
            "wellformed_text, store ok",
            "incidents 26, 166",
        ),
        "M32": Row(
            "secret markers / prompt echo in reply",
            "optional data-flow checks",
            "",
        ),
        "M33": Row(
            "claims success without calling the tool",
            "error_visible (scripted markers)",
            "incidents 114",
        ),
        "M34": Row(
            "final text then more tool calls after a hook continues it",
            "bounded_turn",
            "incidents 92-95",
        ),
    }
)
