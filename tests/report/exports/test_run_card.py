"""The card of a run: well-formed, of the size of its text, bounded, and without a script."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from syrupy.assertion import SnapshotAssertion

from harness.core.values.messages import ToolUse
from harness.core.values.verdict import Finding, Verdict
from harness.report.exports.exported_run import ExportedRun
from harness.report.exports.run_card import FINDINGS_MOST, LANES_MOST, STEPS_MOST, WIDTH, run_card
from tests.report.exports.made_runs import RunMaker, failing_run, histories

_SVG = "{http://www.w3.org/2000/svg}"
_TAGS = {"svg", "style", "rect", "circle", "text", "title"}


def _root(run: ExportedRun) -> ElementTree.Element:
    return ElementTree.fromstring(run_card(run))


def _texts(root: ElementTree.Element) -> str:
    return " ".join(text.text or "" for text in root.iter(f"{_SVG}text"))


def test_card(snapshot: SnapshotAssertion) -> None:
    assert run_card(failing_run()).decode() == snapshot


def test_it_says_name_verdict_and_findings_and_marks_the_step_of_one() -> None:
    run = failing_run()
    root = _root(run)
    said = _texts(root)
    for words in ("made/variant", "✗ fail", "no_progress_stop.same_failure", "run.unplayed"):
        assert words in said
    (marked,) = root.findall(f"{_SVG}rect[@class='dot']")
    assert "no_progress_stop.same_failure" in (marked[0].text or "")


@given(histories())
def test_each_part_stands_within_the_card(run: ExportedRun) -> None:
    root = _root(run)
    height = float(root.get("height", "0"))
    assert {element.tag.removeprefix(_SVG) for element in root.iter()} <= _TAGS
    for part in root.iter():
        assert float(part.get("y", "0")) <= height
        assert float(part.get("x", "0")) + float(part.get("width", "0")) <= WIDTH + 1


HOSTILE = '</text><script>alert(1)</script> "x" & \x00\x1b[31m \ud800'


def test_words_of_an_agent_stay_words() -> None:
    made = RunMaker(target=HOSTILE)
    made.comes("main", 1, HOSTILE)
    use = ToolUse("t1", HOSTILE, {"x": HOSTILE})
    made.asks("main", 1, use)
    made.runs("main", 1, use, HOSTILE)
    verdict = Verdict("fail", "none", (Finding("x.y", HOSTILE),), doubts=(HOSTILE,))
    root = _root(made.ended(verdict))
    assert {element.tag.removeprefix(_SVG) for element in root.iter()} <= _TAGS
    assert "<script>" in _texts(root)


def test_a_long_run_is_bounded_and_says_so() -> None:
    made = RunMaker()
    for number in range(STEPS_MOST):
        use = ToolUse(f"t{number}", f"tool_{number % (LANES_MOST + 4)}", {})
        made.asks("main", 1, use)
        made.runs("main", 1, use, "ok")
    found = tuple(Finding(f"x.y{number}", "word " * 400) for number in range(FINDINGS_MOST + 2))
    root = _root(made.ended(Verdict("fail", "none", found)))
    said = _texts(root)
    assert len(list(root.iter(f"{_SVG}rect"))) <= STEPS_MOST + 1
    assert f"{STEPS_MOST} steps" in said
    assert f"{3 * STEPS_MOST + 2} not shown" in said  # four steps a call, the start and the end
    assert "and 2 more findings" in said
    assert "more sides" in said
    assert float(root.get("height", "0")) < 1200
