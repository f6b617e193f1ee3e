"""One scenario in many writings, and the courses that an agent takes through them."""

from __future__ import annotations

import pytest

from harness.comparison.writings import course_name, difference, steps, writings
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from tests.checks.histories import Story, use


def _scenario(**fields: object) -> Scenario:
    return Scenario(name="busy", script=(Turn(say="hi"),), **fields)  # type: ignore[arg-type]


def test_a_scenario_is_written_three_ways() -> None:
    plain, streamed, pieces = writings(_scenario())
    assert [run.run_name for run in (plain, streamed, pieces)] == [
        "busy",
        "busy+stream",
        "busy/in-pieces+stream",
    ]
    assert [fault.kind for fault in pieces.faults] == ["sse.tiny_deltas"]


def test_a_scenario_with_faults_has_no_other_writing() -> None:
    faulty = _scenario(faults=(FaultSpec(kind="http.overloaded"),))
    assert writings(faulty) == (faulty,)


@pytest.mark.parametrize("variant", ["", "two"])
@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
@pytest.mark.parametrize("stream", [False, True])
def test_all_writings_of_a_run_have_one_course(variant: str, wire: str, stream: bool) -> None:
    written = writings(_scenario(variant=variant, wire=wire, stream=stream))
    names = {course_name(run.run_name) for run in written}
    assert names == {"busy/two" if variant else "busy"}


def _course(*uses: object, text: str = "done", status: str = "ok", kind: str = "final") -> Story:
    story = Story().turn("go").reply(*uses)
    for _ in uses:
        story.tool("a")
    return story.reply(text).final(status=status, kind=kind)


def _differs(first: Story, other: Story) -> str:
    return difference(steps(first.end()), steps(other.end()))


def test_equal_courses_do_not_differ() -> None:
    first, other = _course(use("list"), text="All done."), _course(use("list"), text="All  done.\n")
    assert _differs(first, other) == ""
    one = _course(use("list", {"path": "a"}), use("list", {"path": "b"}))
    two = _course(use("list", {"path": "b"}), use("list", {"path": "a"}))
    assert _differs(one, two) == "", "calls of one answer may run in any order"


def test_a_failure_is_compared_by_its_kind() -> None:
    first = _course(text="end_turn came", status="failed", kind="error")
    assert _differs(first, _course(text="stop came", status="failed", kind="error")) == ""
    assert _differs(first, _course(text="stop came"))


def test_another_call_another_word_and_an_early_end_are_told() -> None:
    first = _course(use("list", {"path": "a"}))
    other = _differs(first, _course(use("list", {"path": "b"})))
    assert other == 'it calls list {"path":"b"}, and there it calls list {"path":"a"}'
    assert "it says 'no', and there it says 'done'" in _differs(_course(), _course(text="no"))
    assert "and there it has ended" in _differs(Story().turn("go"), _course())
