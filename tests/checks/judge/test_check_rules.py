"""The table of classes: a row for each rule of our checks, and no row without a rule."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness.checks
from harness.checks import Finding, History, judge
from harness.checks.judge import own_checks, rule_of, rules, rules_of
from harness.checks.judge.check_rules import by_class
from harness.checks.judge.check_texts import explain
from harness.core.values.errors import InputError
from harness.core.values.verdict import BOOK_KEEPING
from harness.parts.part import docstring_of
from harness.providers.anthropic.record import TABLE as ANTHROPIC
from harness.providers.openai_chat.record import TABLE as CHAT
from harness.providers.openai_responses.record import TABLE as RESPONSES
from tests.checks.histories import Story, loop

FILES = Path(harness.checks.__file__).parent.rglob("*.py")
NODES = [node for path in FILES for node in ast.walk(ast.parse(path.read_text("utf-8")))]
TEXTS = {node.value for node in NODES if isinstance(node, ast.Constant)}
OF_A_DIALECT = "valid_request."
DIALECT_RULES = {
    id_: rule for table in (ANTHROPIC, CHAT, RESPONSES) for id_, rule in table.rules.items()
}


def _harvest() -> Iterator[str]:
    """The codes that the findings of our checks can have, those of the dialects left out."""
    for node in NODES:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
            for code in _codes(node.args[0]):
                if code.partition(".")[0] in own_checks().keys() - BOOK_KEEPING:
                    yield code


def _codes(code: ast.expr) -> Iterator[str]:
    """The codes of one finding; of `f"check.{rule}"`, the rules that the check's text names."""
    if isinstance(code, ast.Constant):
        yield str(code.value)
    elif isinstance(code, ast.JoinedStr):
        said = "".join(map(_part, code.values))
        yield from _named(*said.rstrip("*").split(".")) if "*" in said else [said]


def _part(part: ast.expr) -> str:
    """A part of an f-string; `_CODE` is a constant of `truthfulness`, all else is a rule."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    is_constant = isinstance(part, ast.FormattedValue) and getattr(part.value, "id", "") == "_CODE"
    return "stream_error_handled" if is_constant else "*"


def _named(check: str, begins: str) -> Iterator[str]:
    """The words of a check's text that stand as rules, `so`: or in its list of findings."""
    said = docstring_of(own_checks()[check]) if check in own_checks() else ""
    named = re.findall(r"((?:`\w+`, )*`\w+`):", said) + re.findall(r"Findings: ([^.]*)", said)
    words = {word for part in named for word in re.findall(rf"`{begins}(\w+)`", part)}
    yield from (f"{check}.{begins}{word}" for word in words if word in TEXTS)


def test_each_rule_has_a_row_and_each_row_a_rule() -> None:
    rows = {code for code in rules() if not code.startswith(OF_A_DIALECT)}
    assert rows == set(_harvest())
    assert {code.partition(".")[0] for code in rows} >= own_checks().keys() - BOOK_KEEPING - {
        OF_A_DIALECT.rstrip(".")
    }


def test_the_rows_of_the_dialects_name_their_rules() -> None:
    rows = {code.removeprefix(OF_A_DIALECT) for code in rules() if OF_A_DIALECT in code}
    assert rows - {"*"} <= DIALECT_RULES.keys()
    assert rule_of("valid_request.V4").class_ == "defect"


def test_what_only_a_strict_provider_refuses_is_advice() -> None:
    strict = {id_ for id_, rule in DIALECT_RULES.items() if rule.dialects == {"strict"}} - {"V24"}
    assert strict >= {"V1", "C31", "R12"}
    assert {rule_of(f"valid_request.{id_}").class_ for id_ in strict} == {"advice"}


@pytest.mark.parametrize("row", rules().values(), ids=lambda row: row.code)
def test_a_reason_is_a_sentence_with_a_source(row: object) -> None:
    reason = rule_of(getattr(row, "code", "")).reason
    assert re.fullmatch(r"[A-Z][^.]*\.", reason), "one sentence"
    assert 6 <= len(reason.split()) <= 25
    assert rule_of(getattr(row, "code", "")).source


def test_a_rule_of_ours_without_a_row_is_no_pass() -> None:
    with pytest.raises(LookupError, match=r"no row for backoff\.unheard_of"):
        rule_of("backoff.unheard_of")


def test_explain_says_class_reason_and_source() -> None:
    said = "`executed` (defect): A call runs from an answer that never ended, so the call may be "
    said += "incomplete. Source: invariant 25; BerriAI/litellm#6532."
    one, all_of_them = explain("stream_error_handled.executed"), explain("stream_error_handled")
    assert said in one
    assert said in all_of_them
    assert ("(weakness)" in one, "(weakness)" in all_of_them) == (False, True)
    assert "`V4` (defect)" in explain("valid_request.V4")
    assert "Every other rule (defect)" in explain("valid_request")
    assert "(advice)" not in explain("script")
    with pytest.raises(InputError, match=r"did you mean 'backoff\.too_soon'"):
        explain("backoff.to_soon")


def test_the_rules_of_a_check_stand_by_class() -> None:
    words = [row.class_ for row in sorted(rules_of("stream_error_handled"), key=by_class)]
    assert words == ["defect"] * 4 + ["weakness"]


def polite(history: History) -> Iterator[Finding]:
    """A check of a user: one finding without a class, one with."""
    yield Finding("polite.word", "no word", (1,))
    yield Finding("polite.tone", "no tone", (1,), "advice")


def test_the_judge_sets_the_class() -> None:
    found = judge(loop(Story().turn("go"), "list", 4).end(), extra=[polite]).findings
    assert {(f.code, f.class_) for f in found} >= {
        ("no_progress_stop.same_call", "weakness"),
        ("polite.word", "defect"),
        ("polite.tone", "advice"),
    }
