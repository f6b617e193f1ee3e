"""What is wrong with an agent stands in 24 lines, however many causes and runs there are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import Finding, NotApplicable, Verdict
from harness.report.media.screen import ROWS, first_screen
from harness.verdicts.result import Result
from tests.report.fabricated import summary as run
from tests.report.test_command_summary import RUNS, crash, fails

WIDTH = 100


def rows(lines: list[str]) -> int:
    """The rows that the lines take on a terminal."""
    return sum(max(-(-len(line) // WIDTH), 1) for line in lines)


def test_the_screen(snapshot: SnapshotAssertion) -> None:
    unspoken = NotApplicable("run", "needs wire gemini: no run called", "gemini", "wire")
    lacking = Verdict("not_applicable", not_applicable=(unspoken,))
    runs = [*RUNS, *(run(f"hello/{n}@gemini", lacking) for n in range(9))]
    said = first_screen(runs, WIDTH, planned=200, report=".harness/runs/report.txt")
    assert rows(said) <= ROWS
    assert "\n".join(said) == snapshot


@given(st.integers(0, 60), st.integers(0, 3), st.integers(0, 120), st.integers(80, 200))
def test_it_fits_whatever_was_found(causes: int, doubts: int, long: int, width: int) -> None:
    runs = [run(f"a{'x' * long}/{n}", Verdict("fail", findings=(Finding(f"c.r{n}", "m" * long),)))
            for n in range(causes)]  # fmt: skip
    runs += [run(f"odd/{n}", Verdict("unknown", doubts=("w " * long,))) for n in range(doubts)]
    said = first_screen(runs, width, report="r" * long)
    assert sum(max(-(-len(line) // width), 1) for line in said) <= ROWS
    shown = sum(line.startswith("       harness run ") for line in said)
    left = next((int(line.split()[1]) for line in said if line.startswith("       and ")), 0)
    assert shown + left == causes


def test_a_command_is_whole_and_may_be_shorter_than_that_of_the_run() -> None:
    found = fails("loops", Finding("a.b", "wrong"))
    assert isinstance(found, Result)
    assert f"       {found.repeat}" in first_screen([found], 60)
    assert "       again loops" in first_screen([found], 60, again=lambda name: f"again {name}")


def test_errors_at_one_place_are_one_cause() -> None:
    errors = ("KeyError", "KeyError", "OSError", "TypeError", "EOFError", "ValueError")
    runs = [fails(f"c/{n}", crash("a b.py:5", error, "x")) for n, error in enumerate(errors)]
    said = "\n".join(first_screen(runs, WIDTH))  # type: ignore[arg-type]
    assert "    6  target.crashed  at a b.py:5: KeyError in 2, OSError in 1" in said
    assert "2 other errors" in said


def test_nothing_was_found() -> None:
    said = first_screen([run("a", Verdict("pass", "completed"))], WIDTH, report="x/report.txt")
    assert said == [
        "each run: x/report.txt; -v prints it, --html FILE shows it",
        "1 run: 1 passed; target my.agent:agent",
    ]
