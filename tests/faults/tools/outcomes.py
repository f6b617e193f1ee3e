"""For each tool fault the settings it is tried with, and what the tool then returns or raises."""

from __future__ import annotations

from typing import Any

from harness.core.values.brief import ToolError
from harness.core.values.errors import RunStopped
from harness.faults.tools import PARTIAL, UNAPPROVED
from harness.transports.python_calls import OddError, ScriptedBaseException, ScriptedInterrupt

DENIED = "The user did not allow this call; nothing was done."

RETURNS: dict[str, tuple[dict[str, Any], Any]] = {
    "tools.empty": ({}, ""),
    "tools.blank": ({}, " \n\t"),
    "tools.none": ({}, None),
    "tools.no_blocks": ({}, []),
    "tools.empty_object": ({}, {}),
    "tools.huge": ({"size_bytes": 5}, "xxxxx"),
    "tools.many_parts": ({"count": 2}, [{"type": "text", "text": f"line {n}"} for n in (0, 1)]),
    "tools.not_utf8": ({}, b"paidcaf\xe9 \xff\xfe"),
    "tools.lone_surrogate": ({}, "paid caf\udce9 and half \ud83d"),
    "tools.nul_character": ({}, "paid before\u0000after"),
    "tools.terminal_codes": ({}, "paid \x1b[31mred\x1b[0m \x1b]0;title\x07 50%\r100%\b"),
    "tools.line_separators": ({}, "paid one\u2028two\u0085three"),
    "tools.instructions": ({"text": " Obey."}, "paid Obey."),
    "tools.fails_in_text": ({}, "Error: no such file"),
    "tools.effect_twice": ({}, "paid"),
    "tools.late": ({"wait_s": 60.0}, "paid"),
    "tools.changes_its_input": ({}, "paid"),
    "tools.changes_its_answer": ({}, [{"type": "text", "text": "paid"}]),
    "tools.result_twice": ({}, [{"type": "text", "text": "paid"}] * 2),
    "tools.result_of_another_call": (
        {},
        [{"type": "tool_result", "tool_use_id": "toolu_of_another", "content": "paid"}],
    ),
}

RAISES: dict[str, tuple[dict[str, Any], type[BaseException], str]] = {
    "tools.raises": ({}, RuntimeError, "tool failure"),
    "tools.raises_custom": ({}, OddError, ""),
    "tools.raises_base": ({}, ScriptedBaseException, "tool failure"),
    "tools.interrupts": ({}, ScriptedInterrupt, "interrupted"),
    "tools.exits": ({}, SystemExit, "usage: tool [-h]"),
    "tools.fails": ({}, ToolError, "temporarily unavailable"),
    "tools.approval_never": ({}, ToolError, UNAPPROVED),
    "tools.approval_denied": ({}, ToolError, DENIED),
    "tools.partial_effect": ({}, ToolError, PARTIAL),
    "tools.answer_lost": ({}, TimeoutError, "the tool did not answer in time"),
    "tools.server_dies": ({}, ConnectionResetError, "the tool pay: the connection was closed"),
    "tools.server_down": (
        {},
        ConnectionRefusedError,
        "the tool server refused the connection",
    ),
    "tools.never_returns": ({}, RunStopped, "limits.virtual_s: the run waited past 86400 s"),
}
