"""Rows of the fault table: tools."""

from __future__ import annotations

from types import MappingProxyType

from harness.faults.table.row import Row

ROWS = MappingProxyType(
    {
        "X1": Row(
            "raises (plain, custom, BaseException, KeyboardInterrupt)",
            "is_error result; loop survives the first two",
            "incidents 129",
        ),
        "X2": Row(
            "returns after timeout / never returns / ignores cancel",
            "tool_bounded; late result dropped, not attached to another call",
            "incidents 127, 128",
        ),
        "X3": Row(
            'returns None, "", [], {}',
            'non-blank result text; model told "empty, success"',
            "incidents 18, 64, 70",
        ),
        "X4": Row(
            "huge output (1 MB, 100 MB), endless generator",
            "capped copy to the model, full copy to the log",
            "incidents 60",
        ),
        "X5": Row(
            "non-UTF-8 bytes, NUL, lone surrogate, ANSI, U+2028",
            "wellformed_text",
            "incidents 25, 166",
        ),
        "X6": Row(
            "image too big / many images",
            "request_fits",
            "incidents 27-30",
        ),
        "X7": Row(
            "error flag set vs error only in text vs exit code 0 with an error page",
            "error_visible; no_progress_stop in all three",
            "incidents 64",
        ),
        "X8": Row(
            "flaky: fail k, then ok",
            "eventually ok within budget",
            "",
        ),
        "X9": Row(
            "effect done, reply lost (timeout, reset, crash)",
            "effect_once: verify or ask before repeating",
            "incidents 156, 158",
        ),
        "X10": Row(
            "effect done twice by the backend itself",
            "reported",
            "",
        ),
        "X11": Row(
            "partial effect",
            "verify",
            "",
        ),
        "X12": Row(
            "out-of-order completion; result for another id; result twice",
            "tool_pairing",
            "incidents 161",
        ),
        "X13": Row(
            "tool needs approval, never granted / denied / granted late",
            "bounded_wait; denial is a result",
            "incidents 99 (permission stream closed)",
        ),
        "X14": Row(
            "tool mutates its args object / returns a live reference later changed",
            "recorded history must not change (deep copy) → append_only_prefix",
            "",
        ),
        "X15": Row(
            "tool server dies and restarts mid-call",
            "error result, reconnect",
            "incidents 129, 131",
        ),
        "X16": Row(
            "tool output contains instructions / fake tool results",
            "no control change (scripted check)",
            "",
        ),
        "X17": Row(
            "tool kills or restarts the agent itself",
            "resume_no_reexec",
            "incidents 148, 149, 151",
        ),
        "X18": Row(
            "sub-agent returns blank / error / huge",
            "nonblank_content, error_visible",
            "incidents 20, 35",
        ),
    }
)
