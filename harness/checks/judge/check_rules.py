"""The rules of a check, from the table beside its file: `checks/loops.tsv` for `checks/loops.py`.

A row holds the class of a rule, the events that put its question, the reason for the class in one
sentence, and a source. `check.*` covers the rules of a check without their own row. The module of a
plug-in may have such a table beside it too. The checks of `BOOK_KEEPING` have no rows: their
findings are about the run itself, and always fail it.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias

import msgspec

from harness.core.transition.ports import CheckFunction
from harness.core.values.table_file import table_beside
from harness.core.values.verdict import CLASSES, FindingClass

Question: TypeAlias = Literal[
    "run", "recording", "inbox", "outbox", "store",
    "turn", "request", "later_request", "tools_offered", "sub_agent", "child_end", "failed_child",
    "child_in_turn", "woken_turn", "large_result",
    "overflow", "second_provider", "second_model",
    "failed_request", "temporary_failure", "retry_after", "vain_answer", "bad_answer",
    "cut_answer", "refused_answer", "truncated_answer", "unfinished_answer", "synthetic_answer",
    "non_ascii_answer", "text_blocks", "text_beside_call", "thought",
    "marked_answer", "fenced_answer",
    "tool_call", "repeated_call", "unrun_call", "cut_call", "stopped_call", "ended_call",
    "odd_input", "approval",
    "empty_input", "tool_result", "tool_run", "second_tool_run", "failed_tool", "effect",
    "message", "blank_message", "second_message", "message_in_turn", "second_session",
    "request_after_reply", "message_after_refused_content",
    "message_after_fault", "cancel", "kill", "second_kill", "reply", "unsure_reply",
    "partial_reply",
    "forbidden_words", "exit_status", "finished_turn",
    "compaction", "failed_compaction", "bad_summary", "summary", "second_summary",
    "stored_row", "loaded_session", "store_failure", "mark",
]  # fmt: skip
"""The events that put a question; `questions` says how a history shows each. The first five are the
kind of history and its seams."""


class CheckRule(msgspec.Struct, frozen=True):
    """A rule, `check.rule` or `check.*`: its class, the events that must all be there to ask it,
    the reason for the class, and the source of the reason."""

    code: str
    class_: FindingClass = msgspec.field(name="class")
    asked_by: tuple[Question, ...]
    reason: str
    source: str

    @property
    def check(self) -> str:
        """The name of its check."""
        return self.code.rpartition(".")[0]


def rules_beside(check: CheckFunction, full: str) -> tuple[CheckRule, ...]:
    """The rules of a check by its full name, in the order of the table; none without a table."""
    rows = (row for row in _rows(check.__module__) if row.check == check.__name__)
    return tuple(
        msgspec.structs.replace(row, code=f"{full}.{row.code.rpartition('.')[2]}") for row in rows
    )


@cache
def _rows(module: str) -> tuple[CheckRule, ...]:
    return tuple(table_beside(module, CheckRule).values())


def by_class(rule: CheckRule) -> int:
    """The sort key of a rule: defects first, then weaknesses, then advice."""
    return CLASSES.index(rule.class_)
