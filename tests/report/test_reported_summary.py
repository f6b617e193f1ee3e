"""A summary of a run holds no secret, because reports wrap its texts, and a wrapped one is lost."""

from __future__ import annotations

from harness import InboxItem, Scenario, Turn, run
from harness.core.values.verdict import Finding, Verdict
from harness.verdicts.result import of_history, summarize

KEY = "sk-ant-api03-" + "Zq7Lm2Xc9Vb4Np6Rt8Yw3Ks5Hd1Gf0Ja" * 3
SCENARIO = Scenario(name="a", inbox=(InboxItem(text="hi"),), script=(Turn(say="x"),))


def _leaks(brief: object) -> None:
    raise RuntimeError(f"the key is {KEY} \ud800")


def test_a_run_is_summarized_without_secrets() -> None:
    made = summarize(run(SCENARIO, _leaks), None)
    assert made.verdict.failing
    assert "Zq7" not in repr(made)
    assert "\ud800" not in made.verdict.findings[0].message


def test_a_kept_run_too() -> None:
    made = of_history(None, Verdict("fail", findings=(Finding("a.b", KEY),)), "path")
    assert "Zq7" not in repr(made)
