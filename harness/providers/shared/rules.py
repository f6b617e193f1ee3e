"""What an API refuses, and what it says for each cause of an error, as data.

`rules.tsv` has one rule a line: when it is on, its answer and its source. Clients match on the
texts, so they stand only there, with their source thread. Texts drift by date; the `type` does not.

`error_words.tsv` has one cause a line. A cause is neutral: `overloaded_error` is a 529 of
Anthropic's and a 503 elsewhere. Faults, scripts and limits name causes. What they state besides (a
text, a code, a status) stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from string import Formatter

import msgspec

from harness.core.history.exchanges import SIZE_RULES
from harness.core.transition.ports import Violation
from harness.core.values.errors import InputError, nearest
from harness.core.values.plans import ApiError
from harness.core.values.table_file import package_text, table
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


def rule_examples(package: str) -> dict[str, str]:
    """A request that breaks a rule, by the id of the rule; large ones are left out."""
    return {row["rule"]: row["request"] for row in table_rows(package, "examples.tsv")}


class RuleTable:
    """The rules of one provider by id, in the order of the file."""

    def __init__(
        self,
        record: ProviderRecord,
        package: str,
        error: MakeError = lambda rule, text, _: ApiError(
            rule.status, rule.type, text, code=rule.code
        ),
        fits: Fits = lambda models, name: True,
        *,
        words: ErrorTable | None = None,
    ) -> None:
        self._record, self._error, self._fits = record, error, fits
        self._words = words
        self._package = package

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """The rules by id. They are read when they are needed: each start imports all records."""
        return rule_rows(self._package)

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
        error = self._error(rule, text, param)
        return Violation(rule.id, error, rule.since, str(values.get("path", "")))

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

    def refuses_size(self, error: ApiError) -> bool:
        """Whether an error refuses a request for its size.

        Its text may be that of a recording, a scenario or a plug-in, so that words are all that
        tells where no code does.
        """
        if self._record.size_codes & {error.code, error.type}:
            return True
        return any(words in error.message for words in self._size_words)

    @cached_property
    def _size_words(self) -> frozenset[str]:
        said = [error.message for rule, error in self.refusals().items() if rule in SIZE_RULES]
        rows = self._words.rows if self._words else {}
        # Gemini refuses too many bytes with the status and the type of any malformed request.
        said += [re.sub(r"\d+", "{}", rows[TOO_MANY_BYTES].text)] if rows else []
        return frozenset(map(_words_of, said))

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


TOO_MANY_BYTES = "request_too_large"
"""The cause of a refusal for bytes, not tokens."""

_WORDS_LEAST = 12


def _words_of(template: str) -> str:
    """The first literal text of a template that is long enough, without the path of a field."""
    parts = (part.partition(". ")[0].strip(" :") for part, *_ in Formatter().parse(template))
    said = next(part for part in parts if len(part) >= _WORDS_LEAST)
    return said.partition(": ")[2] if said.startswith(".") else said


def table_rows(package: str, name: str) -> list[dict[str, str]]:
    """The lines of a package's table, tab-separated; the first one names the columns."""
    header, *lines = (line.split("\t") for line in package_text(package, name).splitlines())
    return [dict(zip(header, cells, strict=True)) for cells in lines]


class ErrorWords(msgspec.Struct, frozen=True):
    """How a provider says one cause. `asked` is the status that the cause is known by everywhere.

    With `never` the provider sends no such status at all, and answers `status` in its place.
    """

    cause: str
    asked: int
    status: int
    type: str
    known: str
    text: str
    never: bool = False
    code: str = ""
    param: str = ""
    source: str = ""


class ErrorTable:
    """The errors of one provider. `places` are packages and files; later rows replace earlier ones.

    `error` is the class of errors that name a parameter, for the rows that do.
    """

    def __init__(self, *places: tuple[str, str], error: type[ApiError] = ApiError) -> None:
        self._places, self._error = places, error

    @cached_property
    def rows(self) -> dict[str, ErrorWords]:
        """The rows by their cause."""
        read = (table(package, name, ErrorWords) for package, name in self._places)
        return {cause: row for rows in read for cause, row in rows.items()}

    @cached_property
    def _never(self) -> dict[int, int]:
        return {row.asked: row.status for row in self.rows.values() if row.never}

    def own(self, error: ApiError) -> ApiError:
        """An error in the provider's words; one that has them already is returned unchanged.

        A status of 0 is the one that goes with the cause. A status that the provider never sends
        becomes the one that it sends for the same cause.
        """
        row, status = self.rows.get(error.type), self._never.get(error.status, error.status)
        if row is None:
            return (
                error if status == error.status else msgspec.structs.replace(error, status=status)
            )
        said = {
            "status": status or row.status,
            "type": row.type,
            "message": error.message or row.text,
            "code": error.code or row.code,
        }
        if row.param and type(error) is ApiError:
            return self._error(**said, headers=error.headers, param=row.param)  # type: ignore[call-arg, arg-type]
        return msgspec.structs.replace(error, **said)
