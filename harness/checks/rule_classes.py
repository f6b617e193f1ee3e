"""The class of each rule of our own checks, as data: `rule_classes.tsv`.

A row holds the class, the reason in one sentence, and a source. `check.*` covers the rules of a
check without their own row. The checks in `BOOK_KEEPING` have no classes: their findings are about
the run, and always fail it.
"""

from __future__ import annotations

from types import MappingProxyType

import msgspec

from harness.checks.questions import asked_by
from harness.core.values.table_file import table
from harness.core.values.verdict import CLASSES, FindingClass

BOOK_KEEPING = frozenset({"target", "run", "limit", "script", "cassette", "expect"})
"""Checks of the run itself, and of its scenario's expectations."""


class RuleClass(msgspec.Struct, frozen=True):
    """The class of a rule, the reason for it, and the source of the reason."""

    code: str
    class_: FindingClass = msgspec.field(name="class")
    reason: str
    source: str


RULE_CLASSES: MappingProxyType[str, RuleClass] = table(
    "harness.checks", "rule_classes.tsv", RuleClass
)
"""The rows by code, in the order of the file."""


def rule_class(code: str) -> RuleClass:
    """The row of a rule. Raises LookupError for a rule of ours without a row."""
    row = RULE_CLASSES.get(code) or RULE_CLASSES.get(f"{code.partition('.')[0]}.*")
    if row is None:
        raise LookupError(f"rule_classes.tsv has no row for {code}")
    return row


def rules_of(check: str) -> list[RuleClass]:
    """The rows of a check: defects first, then weaknesses, then advice."""
    found = [row for row in RULE_CLASSES.values() if row.code.rpartition(".")[0] == check]
    return sorted(found, key=lambda row: CLASSES.index(row.class_))


def class_words(row: RuleClass) -> str:
    """A row as a line of text, with the event that puts the question of the rule."""
    rule = row.code.rpartition(".")[2]
    named = "Every other rule" if rule == "*" else f"`{rule}`"
    by = asked_by(row.code)
    return f"{named} ({row.class_}): {row.reason} Source: {row.source}. Asked by {by}."
