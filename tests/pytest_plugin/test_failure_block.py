"""What a failing test prints: one block, the worst cause first, of few lines for any findings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion

from harness import InboxItem, Scenario, Turn
from harness.core.values.verdict import Finding, Verdict
from harness.pytest_plugin.failure_block import failure_block
from harness.pytest_plugin.failure_text import LINES_MAX, report
from harness.runner import run
from harness.verdicts.result import Result
from tests.report.fabricated import RUNS, summary

SAME_CALL = Finding("no_progress_stop.same_call", "memory runs again", (6, 8), "weakness")
UNPLAYED = Finding("run.unplayed_turn", "never played: turn 2", follows=SAME_CALL.code)
ORPHAN = Finding("valid_request.V4", "the result has no call", (11,), "defect")
CRASH = Finding("target.crashed", "the target crashed at a.py:7: KeyError: 'x' (in f)", (20,))
EXPECTED = Finding("expect.calls", "memory was called 9 times, at most 4 are expected")


def failing(name: str, *found: Finding) -> Result:
    """A run that fails by these findings, as an agent's own lines in a crash."""
    run = replace(summary(name, Verdict("fail", "limit", findings=found)), history="")
    repeat = "pytest test_a.py::test_memory"
    return replace(run, repeat=repeat, frames=("a.py:3 in agent: f(1)", "a.py:7 in f: {}['x']"))


ONE = (failing("memory", SAME_CALL, UNPLAYED, EXPECTED),)
MANY = (
    *ONE,
    failing("memory+stream", SAME_CALL),
    failing("memory/pairs", ORPHAN, EXPECTED),
    failing("memory/lost", EXPECTED),
    *(failing(f"memory/n{n}", replace(EXPECTED, code=f"expect.x{n}")) for n in range(20)),
)
CRASHED = (failing("memory", CRASH, replace(UNPLAYED, follows=CRASH.code)), *MANY)


@pytest.mark.parametrize("runs", [ONE, MANY, CRASHED, RUNS[2:4]], ids=["one", "many", "crash", "?"])
def test_block(runs: Sequence[Result], snapshot: SnapshotAssertion) -> None:
    assert "\n".join(failure_block(runs, frozenset(), LINES_MAX)) == snapshot


def test_expected_findings_are_no_cause() -> None:
    said = failure_block(ONE, frozenset({SAME_CALL.code, UNPLAYED.code}), LINES_MAX)
    assert said[0] == f"expect.calls: {EXPECTED.message}"
    said = failure_block(ONE, frozenset({"valid_request.V4", EXPECTED.code}), LINES_MAX)
    assert said[0].startswith("no_progress_stop.same_call (weakness): ")
    said = failure_block([failing("a", ORPHAN)], frozenset({ORPHAN.code, "x.y"}), LINES_MAX)
    assert said[0] == "expected and not found: x.y"


_text = st.text(st.sampled_from("ab \n"), max_size=500)
_finding = st.builds(
    Finding,
    st.sampled_from(["target.crashed", "valid_request.V4", "expect.calls", "run.unplayed_turn"]),
    _text,
    st.lists(st.integers(0, 30), max_size=12).map(tuple),
    st.sampled_from(["", "defect", "weakness", "advice"]),
    st.sampled_from(["", "valid_request.V4"]),
)


@given(st.lists(st.lists(_finding, min_size=1, max_size=6), min_size=1, max_size=25), _text)
def test_no_block_is_longer(found: list[list[Finding]], doubt: str) -> None:
    runs = [
        replace(
            failing(f"r{n}", *these), history="h", kept="k", frames=tuple("abcdefghijkl"),
            verdict=Verdict("fail", findings=tuple(these), doubts=(doubt,)),
        )
        for n, these in enumerate(found)
    ]  # fmt: skip
    said = failure_block(runs, frozenset({"expect.calls"}), LINES_MAX - 2)
    assert len(said) <= LINES_MAX - 2
    assert [line for line in said if line.startswith("  repeat:  ")] == [
        "  repeat:  pytest test_a.py::test_memory"
    ]
    assert len(said[0]) <= 240
    assert all(len(line) <= 100 for line in said[1:])


def broken(brief: object) -> None:
    """An agent that fails by its own defect."""
    raise KeyError("seats")


def test_a_crash_is_told_by_the_agents_own_line() -> None:
    asked = Scenario(name="a", inbox=(InboxItem(text="x"),), script=(Turn(say="y"),))
    runs = [run(asked, broken)]
    said = report(runs, frozenset(), "pytest test_a.py::test_x", whole=False).splitlines()
    assert "test_failure_block.py:" in said[0]
    assert "KeyError: 'seats' (in broken)" in said[0]
    assert said[2].endswith('in broken: raise KeyError("seats")')
    assert "  repeat:  pytest test_a.py::test_x" in said
    assert said[-1].startswith("1 run: 1 failed")
    whole = report(runs, frozenset(), "", whole=True)
    assert whole.startswith("FAIL a\n")
    assert "run.unplayed_turn" in whole
