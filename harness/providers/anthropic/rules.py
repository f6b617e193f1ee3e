"""What the API refuses, as one table: when a rule is on, what it answers, how that is known.

The rows stand in `rules_messages`, `rules_fields` and `rules_state`.
"""

from __future__ import annotations

from harness.core.transition.ports import Violation
from harness.core.values.errors import InputError, nearest
from harness.core.values.plans import ApiError
from harness.providers.anthropic.rule import ALL as ALL
from harness.providers.anthropic.rule import DEFAULT_DIALECT as DEFAULT_DIALECT
from harness.providers.anthropic.rule import DIALECTS as DIALECTS
from harness.providers.anthropic.rule import Rule
from harness.providers.anthropic.rules_fields import FIELD_RULES
from harness.providers.anthropic.rules_messages import MESSAGE_RULES
from harness.providers.anthropic.rules_state import STATE_RULES


def _place(rule: Rule) -> tuple[int, str]:
    number = rule.id[1:].rstrip("abcd") if rule.id.startswith("V") else ""
    return (int(number), rule.id) if number.isdecimal() else (1000, "")


RULES: dict[str, Rule] = {
    rule.id: rule for rule in sorted((*MESSAGE_RULES, *FIELD_RULES, *STATE_RULES), key=_place)
}
"""Every rule by its id, by number; those with an error code in place of a number come last."""


def rules_of(dialect: str) -> frozenset[str]:
    """The ids of the rules that are on in a dialect; "" is the default one.

    Raises InputError, with the nearest name, when there is no such dialect.
    """
    dialect = dialect or DEFAULT_DIALECT
    if dialect not in ALL:
        hint = nearest(dialect, DIALECTS)
        raise InputError(f"no dialect of anthropic is named {dialect!r}; {hint}", "dialect")
    return frozenset(rule.id for rule in RULES.values() if dialect in rule.dialects)


def refusals() -> dict[str, ApiError]:
    """What is answered for each rule, its text a template."""
    return {r.id: ApiError(r.status, r.type, r.text, code=r.code) for r in RULES.values()}


def violation(rule_id: str, **values: object) -> Violation:
    """The violation of a rule, its text filled in."""
    rule = RULES[rule_id]
    error = ApiError(rule.status, rule.type, rule.text.format(**values))
    if rule.code:
        error = ApiError(rule.status, rule.type, error.message, code=rule.code)
    return Violation(rule.id, error)
