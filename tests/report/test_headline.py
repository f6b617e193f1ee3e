"""The first lines say what is wrong in plain words, for every rule that there is."""

from __future__ import annotations

import pytest

from harness.checks.judge import rules
from harness.cli.explanations import setting_names
from harness.core.values.profile import Profile
from harness.core.values.verdict import BOOK_KEEPING, Finding, Verdict
from harness.report.command_summary import HEADLINES, headline, headline_of
from harness.verdicts.tallies import CauseTally
from tests.report.fabricated import summary

CODES = [*rules(), *(f"{check}.any" for check in sorted(BOOK_KEEPING))]


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_words(code: str) -> None:
    row = headline_of(code)
    assert row is not None
    assert row.words
    assert row.step


def test_every_row_is_of_a_rule() -> None:
    checks = {code.rpartition(".")[0] for code in rules()}
    for code in HEADLINES:
        check, _, rule = code.rpartition(".")
        assert check in BOOK_KEEPING or (check in checks and rule == "*") or code in rules(), code


def found(code: str, class_: str, runs: int) -> CauseTally:
    """A tally of this many runs with a finding, and one run with a defect."""
    tally = CauseTally()
    for number in range(runs):
        finding = Finding(code, f"the {number}th", class_=class_)  # type: ignore[arg-type]
        tally.add(f"run{number}", Verdict("fail", findings=(finding,)))
    defect = Finding("outbound_once.missing", "no reply", class_="defect")
    tally.add("other", Verdict("fail", findings=(defect,)))
    return tally


def test_the_heaviest_cause_is_the_headline() -> None:
    unoffered = found("script.unoffered", "", 128)
    assert list(headline(unoffered, {"fail": 129, "pass": 21, "not_applicable": 7})) == [
        "128 of 150 runs: the model calls a tool that your agent does not have",
        "first step: bind the scenario's tools to yours, or offer them "
        "(harness explain script.unoffered)",
        "if your agent means to do so: tool_prefix or tool_names in its profile",
    ]
    assert next(headline(found("a.b", "weakness", 3), {"fail": 4})).startswith(
        "1 of 4 runs: the user"
    )


def test_a_finding_of_a_plug_in_says_its_message() -> None:
    lines = list(headline(found("mine.polite.word", "defect", 9), {"fail": 10}))
    assert lines == ["9 of 10 runs: the 0th", "first step: harness explain mine.polite.word"]


def test_nothing_fails() -> None:
    assert list(headline(CauseTally.of([summary("a", Verdict("pass"))]), {"pass": 1})) == []


def test_each_key_is_one_of_a_profile_or_a_setting_of_a_check() -> None:
    named = {key for row in HEADLINES.values() for key in row.keys}
    settings = {f"checks.{name}" for name in setting_names()}
    keys = set(Profile.__struct_encode_fields__)
    assert named - settings <= keys
    assert named & settings


def test_a_policy_names_the_key_that_settles_it() -> None:
    tally = found("bounded_turn.requests", "defect", 9)
    assert [*headline(tally, {"fail": 10})][-1] == (
        "if your agent means to do so: checks.bounded_turn.max_requests in its profile"
    )
    told = [*headline(found("valid_request.V4", "defect", 9), {"fail": 10})]
    assert not any("means to do so" in line for line in told)
