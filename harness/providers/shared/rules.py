"""What an API refuses, as data: when a rule is on, its answer and its source.

`rules.tsv` has one rule a line. Clients match on the texts, so they stand only there, with their
source thread. Texts drift by date; the `type` does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.errors import InputError, nearest
from harness.core.values.plans import ApiError
from harness.core.values.table_file import package_text
from harness.providers.shared.record import ProviderRecord


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One refusal: `text` and `param` are templates, filled in by name.

    The rule is on in its `dialects`, for its `models` ("" for all), from the day `since`
    (YYYY-MM-DD, "" for always). `param` and `code` are fields of the answer. `asks` is the rule as
    a sentence that a right request fulfils. `known` says how the rule is known:

    - R: a recorded answer of the provider
    - S: types of the official SDK
    - D: the provider's documentation
    - I: seen verbatim in the public issue that `source` names
    - K: general knowledge that nothing here confirms
    """

    id: str
    dialects: frozenset[str]
    models: str = ""
    since: str = ""
    status: int
    type: str
    code: str
    param: str
    known: str
    source: str
    text: str
    asks: str

    @property
    def words(self) -> str:
        """The text of the answer, `…` where a request fills in its own."""
        return re.sub(r"\{\w+\}", "…", self.text).replace("{{", "{").replace("}}", "}").strip()


def rule_rows(package: str) -> dict[str, Rule]:
    """The rules of a provider's package by id, in the order of its file."""
    rows = table_rows(package, "rules.tsv")
    told = [{**row, "dialects": row["dialects"].split()} for row in rows]
    return {rule.id: rule for rule in msgspec.convert(told, list[Rule], strict=False)}


MakeError = Callable[[Rule, str, str], ApiError]
"""The answer of a rule with its text and its parameter filled in."""


Fits = Callable[[str, str], bool]
"""Whether the name of a model is among the `models` of a rule."""


def _plain(rule: Rule, text: str, param: str) -> ApiError:
    return ApiError(rule.status, rule.type, text, code=rule.code)


def _fits_all(models: str, name: str) -> bool:
    return True


def rule_examples(package: str) -> dict[str, str]:
    """A request that breaks a rule, by the id of the rule; large ones are left out."""
    return {row["rule"]: row["request"] for row in table_rows(package, "examples.tsv")}


class RuleTable:
    """The rules of one provider by id, in the order of the file."""

    def __init__(
        self,
        record: ProviderRecord,
        package: str,
        error: MakeError = _plain,
        fits: Fits = _fits_all,
    ) -> None:
        self._record, self._error, self._fits = record, error, fits
        self.rules = rule_rows(package)

    def active(self, dialect: str) -> frozenset[str]:
        """The ids of the rules that are on in a dialect; "" is the default one.

        Raises InputError, with the nearest name, for an unknown dialect.
        """
        names = self._record.dialects.names
        dialect = dialect or self._record.dialects.default
        if dialect not in names:
            what = f"no dialect of {self._record.name} is named {dialect!r}"
            raise InputError(f"{what}; {nearest(dialect, names)}", "dialect")
        return frozenset(rule.id for rule in self.rules.values() if dialect in rule.dialects)

    def violation(self, rule_id: str, **values: object) -> Violation:
        """The violation of a rule, its text and its parameter filled in."""
        rule = self.rules[rule_id]
        text, param = rule.text.format(**values), rule.param.format(**values)
        return Violation(rule.id, self._error(rule, text, param), rule.since)

    def of_model(self, found: tuple[Violation, ...], name: str) -> tuple[Violation, ...]:
        """The violations among `found` whose rules hold for the model of that name."""
        return tuple(v for v in found if self.holds(v.rule, name)) if found else ()

    def holds(self, rule_id: str, name: str) -> bool:
        """Whether a rule holds for the model of that name."""
        models = self.rules[rule_id].models
        return not models or self._fits(models, name)

    def refusals(self) -> dict[str, ApiError]:
        """The answer of every rule, its text a template.

        It names a parameter only where that is the same for every request.
        """
        return {
            rule.id: self._error(rule, rule.text, "" if "{" in rule.param else rule.param)
            for rule in self.rules.values()
        }

    def window(
        self, tokens: int, max_tokens: int | None, window_tokens: int, active: frozenset[str]
    ) -> tuple[Violation, ...]:
        """What breaks the window: the prompt alone (V23), or the prompt and the reply (V24)."""
        total = tokens + (max_tokens or 0)
        rule = "V23" if tokens > window_tokens else "V24" if total > window_tokens else ""
        if rule not in active:
            return ()
        sizes = {"tokens": tokens, "max_tokens": max_tokens, "total": total}
        return (self.violation(rule, window=window_tokens, **sizes),)


def table_rows(package: str, name: str) -> list[dict[str, str]]:
    """The lines of a package's table, tab-separated; the first one names the columns."""
    header, *lines = (line.split("\t") for line in package_text(package, name).splitlines())
    return [dict(zip(header, cells, strict=True)) for cells in lines]
