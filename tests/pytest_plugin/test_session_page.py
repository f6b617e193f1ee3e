"""`--harness-html FILE`: one page of the runs of all tests, of each worker too."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.values.verdict import Finding, Verdict
from harness.pytest_plugin.session_page import as_wanted
from tests.report.html.pages import unpacked

TESTS = """
import anthropic
from harness import InboxItem, Scenario, Turn

TALK = Scenario(name="talk", inbox=(InboxItem(text="Hi."),), script=(Turn(say="Yes."),))
HALF = Scenario(name="half", inbox=(InboxItem(text="\\ud83d"),), script=(Turn(say="Yes."),))

def silent(brief):
    for inbound in brief.inbox():
        brief.send("I asked nobody.")

def test_good(play):
    play(TALK, "reference")

def test_bad(play):
    play(TALK, silent)

def test_wanted(play):
    codes = ("run.nothing_intercepted", "run.unplayed_turn", "truthful_outcome.no_answer")
    play(TALK, silent, expect=codes)

def test_half(play):
    play(HALF, "reference", check=False)

def test_fake(fake_model):
    fake_model.says("Let me see.")
    with fake_model.serve():
        asked = [{"role": "user", "content": "Hi"}]
        anthropic.Anthropic().messages.create(model="any", max_tokens=9, messages=asked)

def test_plain():
    pass
"""


@pytest.mark.real
@pytest.mark.parametrize("workers", ["0", "2"])
def test_one_page_of_all_tests(pytester: pytest.Pytester, workers: str) -> None:
    pytester.makepyfile(test_it=TESTS)
    words = ("-p", "no:cacheprovider", "-n", workers, "--harness-html", "made/page.html")
    done = pytester.runpytest_subprocess(*words)
    done.assert_outcomes(passed=5, failed=1)
    done.stdout.fnmatch_lines(["loop-harness: page *made/page.html"])
    data = (pytester.path / "made/page.html").read_bytes()
    runs = unpacked(data, "index")["runs"]
    verdicts = {run["name"]: run["verdict"] for run in runs}
    assert verdicts["test_bad talk"] == "fail"
    assert verdicts["test_wanted talk"] == "pass"
    assert verdicts["test_good talk"] == verdicts["test_fake"] == "pass"
    assert runs[0]["folder"] == "test_it.py"
    assert runs[0]["repeat"] == "pytest test_it.py::test_bad"
    assert unpacked(data, f"run-{len(runs) - 1}")["events"]


def test_a_page_that_cannot_be_written_is_told_at_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_it(): pass")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--harness-html", ".")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: *: a folder; name a file"])


def test_without_the_option_nothing_is_kept(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_it(pytestconfig): assert not list_of(pytestconfig)\n"
                        "def list_of(config): return config.pluginmanager.get_plugin("
                        "'harness-session-page')")  # fmt: skip
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    assert not list(Path(pytester.path).glob("*.html"))


@pytest.mark.parametrize(
    ("wanted", "word", "known"),
    [({"a.b"}, "fail", 1), ({"a.b", "c.d"}, "pass", 2), ({"x"}, "fail", 0)],
)
def test_what_a_test_wants_is_known(wanted: set[str], word: str, known: int) -> None:
    verdict = Verdict("fail", findings=(Finding("a.b", "one"), Finding("c.d", "two")))
    made = as_wanted(verdict, frozenset(wanted))
    assert (made.verdict, len(made.known)) == (word, known)
    assert len(made.findings) == 2 - known
