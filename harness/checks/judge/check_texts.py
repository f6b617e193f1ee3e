"""What `harness explain` and the documents say of a check: its question, rules and declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from harness.checks.evidence.declarations import declared
from harness.checks.judge import CHECKS, check_of, checks, rule_of, rules_of
from harness.checks.judge.check_rules import CheckRule, by_class
from harness.checks.judge.questions import asked_by
from harness.core.scenario.scenario import Limits
from harness.core.values.errors import InputError, nearest
from harness.core.values.verdict import BOOK_KEEPING
from harness.parts.part import docstring_of


def names() -> dict[str, str]:
    """Each check's name and its question."""
    return {name: part.title for name, part in CHECKS.parts().items()}


def explain(code: str) -> str:
    """Explain a check: its question, its rules with their classes, its source, and its
    declarations.

    `code` is a check or `check.rule`. Raises InputError for an unknown name.
    """
    name = check_of(code)
    check = CHECKS.named(name, code)
    by_reads = () if rules_of(name) or name in BOOK_KEEPING else (_BY_READS,)
    parts = docstring_of(check), _classes(name, code), (*declared(check), *by_reads)
    return "\n\n".join(part if isinstance(part, str) else "\n".join(part) for part in parts if part)


_BY_READS = "Asked by what it reads: a run in which it reads only empty lists is not applicable."
"""The question of a check without a table of rules, which names no events."""


def _classes(name: str, code: str) -> list[str]:
    """The class of one rule, or of each rule of a check, with its reason and source."""
    if not rules_of(name):
        _check_rule(name, code)
        return []
    if code == name:
        return [class_words(row) for row in sorted(rules_of(name), key=by_class)]
    try:
        return [class_words(msgspec.structs.replace(rule_of(code), code=code))]
    except LookupError:
        raise _no_rule(name, code, [row.code for row in rules_of(name)], code) from None


def _check_rule(name: str, code: str) -> None:
    """Raise InputError for a rule that its check does not have, if the check has no table."""
    rule = code.removeprefix(name).removeprefix(".")
    known = {*Limits.__struct_fields__} if name == "limit" else set[str]()
    known |= {*re.findall(r"`([a-z_]+)`", docstring_of(checks()[name]))}
    if rule and rule not in known and name in BOOK_KEEPING:
        raise _no_rule(name, rule, known, code)


def _no_rule(name: str, said: str, known: Iterable[str], code: str) -> InputError:
    return InputError(f"the check {name} has no such rule; {nearest(said, known)}", code)


def class_words(row: CheckRule) -> str:
    """A row as a line of text, with the event that puts the question of the rule."""
    rule = row.code.rpartition(".")[2]
    named = "Every other rule" if rule == "*" else f"`{rule}`"
    return f"{named} ({row.class_}): {row.reason} Source: {row.source}. Asked by {asked_by(row)}."
