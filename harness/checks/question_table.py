"""The table of the events that put the question of each rule (`questions.tsv`), as names.

`questions` says how a history shows each event.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from harness.core.values.table_file import table

Question: TypeAlias = Literal[
    "run", "recording", "inbox", "outbox", "store",
    "turn", "request", "later_request", "tools_offered", "sub_agent", "woken_turn", "large_result",
    "overflow",
    "failed_request", "temporary_failure", "retry_after", "vain_answer", "bad_answer",
    "cut_answer", "refused_answer", "truncated_answer", "unfinished_answer", "synthetic_answer",
    "non_ascii_answer",
    "tool_call", "repeated_call", "unrun_call", "cut_call", "stopped_call", "odd_input",
    "empty_input", "tool_result", "tool_run", "second_tool_run", "failed_tool", "effect",
    "message", "blank_message", "second_message", "second_session", "request_after_reply",
    "message_after_fault", "cancel", "kill", "reply", "partial_reply",
    "forbidden_words", "exit_status", "finished_turn",
    "compaction", "failed_compaction", "bad_summary",
    "stored_row", "loaded_session", "store_failure",
]  # fmt: skip
"""The events that put a question. The first five are the kind of history and its seams."""


class QuestionRow(msgspec.Struct, frozen=True):
    """A rule, `check.rule` or `check.*`, and the events that must all be there to ask it."""

    rule: str
    asked_by: tuple[Question, ...]


WOKEN = r"(?i)^\W*(?:heartbeat|cron|timer|wake[ -]?up|scheduled)\b"
"""The beginning of a message that a timer sends."""

QUESTIONS: MappingProxyType[str, QuestionRow] = table(
    "harness.checks", "questions.tsv", QuestionRow
)
"""The rows by rule, in the order of the file."""


@cache
def rows_of(check: str) -> tuple[QuestionRow, ...]:
    """The rows of one of our checks."""
    return tuple(row for row in QUESTIONS.values() if row.rule.rpartition(".")[0] == check)
