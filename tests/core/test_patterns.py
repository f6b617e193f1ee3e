"""A regular expression of a file ends, and reads as `re` does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.spending import wake_budget
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values import patterns
from harness.core.values.errors import InputError
from harness.core.values.patterns import EndlessPattern, is_in, pattern_of
from harness.runner import run
from tests.runner.agents import greet

ENDLESS = r"(a|aa)+$"
TEXT = "a" * 64 + "b"
PLAIN = st.sampled_from(
    [r"(?i)summar(y|ise)", r"^\[cron\]", r"\bcontext\s+window\b", r"[^\W\d_]+:$", r"(?s)a.*b", ""]
)


@given(PLAIN, st.text(alphabet="a b\nCron[]:summary", max_size=60))
def test_it_finds_what_re_finds(pattern: str, text: str) -> None:
    assert is_in(pattern_of(pattern), text) == (re.search(pattern, text) is not None)


def test_what_is_wrong_with_one_is_told() -> None:
    with pytest.raises(ValueError, match="position"):
        pattern_of("(a")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LIMIT_S", 0.02)


@pytest.mark.usefixtures("short")
def test_one_that_does_not_end_is_named() -> None:
    with pytest.raises(EndlessPattern, match=r"a text of 65 characters") as raised:
        is_in(pattern_of(ENDLESS), TEXT)
    assert repr(ENDLESS) in str(raised.value)


@pytest.mark.usefixtures("short")
def test_an_endless_pattern_of_a_scenario_makes_its_run_unknown() -> None:
    scenario = Scenario(
        name="hello",
        inbox=(InboxItem(text=TEXT),),
        script=(Turn(say="Hello to you."),),
        purposes={ENDLESS: "compact"},
    )
    verdict = run(scenario, greet).verdict
    assert (verdict.verdict, verdict.findings) == ("unknown", ())
    assert repr(ENDLESS) in verdict.doubts[0]


@pytest.mark.usefixtures("short")
def test_an_endless_pattern_of_a_check_is_an_error_of_the_file() -> None:
    scenario = Scenario(
        name="hello", inbox=(InboxItem(text=TEXT),), script=(Turn(say="Hello to you."),)
    )
    history = run(scenario, greet).history
    with pytest.raises(InputError, match="takes more than"):
        list(wake_budget(history, tokens=10, woken=ENDLESS))
