"""What is kept of the runs of a target, and what is played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.field import results as kept
from tests.field.playing import CLOSED, to_repeat
from tests.field.results import RESULTS, Head, Results, Seen, causes, read, results, write


def run_line(name: str, verdict: str = "fail", *findings: dict[str, Any]) -> dict[str, Any]:
    """A line of `harness run --json`."""
    return {
        "name": name, "scenario": name.partition("/")[0], "file": "x", "verdict": verdict,
        "findings": [*findings],
    }  # fmt: skip


DEFECT = {"code": "args_complete.truncated", "class": "defect"}
WEAKNESS = {"code": "no_progress_stop.same_call", "class": "weakness"}
UNCLASSED = {"code": "expect.outcome", "class": ""}
FOLLOWS = {"code": "expect.outcome", "class": None, "follows": "args_complete.truncated"}
ADVICE = {"code": "role_alternation.wire", "class": "advice"}
LACKS = {"not_applicable": [{"missing": "store", "reason": "needs store", "runs": 3}]}

FIRST = [
    run_line("b", "fail", DEFECT, FOLLOWS, ADVICE),
    run_line("a/long", "fail", DEFECT),
    run_line("a", "pass"),
    run_line("c", "not_applicable"),
    run_line("d", "unknown"),
    LACKS,
]


def test_causes_are_what_fails_a_run_by_itself() -> None:
    assert causes(FIRST[0]) == {"args_complete.truncated": "defect"}
    assert causes(run_line("e", "fail", UNCLASSED)) == {"expect.outcome": ""}


def test_the_head_counts_what_was_applicable() -> None:
    head = results("codex", ("codex", "1"), CLOSED, 1, [FIRST]).head
    assert (head.runs, head.scenarios, head.passed, head.failed, head.unknown) == (4, 3, 1, 2, 1)


def test_the_share_is_of_all_runs_that_were_asked_of_the_target() -> None:
    head = results("codex", ("codex", "1"), CLOSED, 1, [FIRST]).head
    assert (head.catalogue, head.applicable, head.lacks) == (5, 4, {"store": 3})
    assert head.share == pytest.approx(3 / 5), "one is not applicable, and one moment did not come"
    assert msgspec.structs.replace(head, runs=0).share == 0


def test_a_run_that_shows_something_else_later_has_changed() -> None:
    again = [run_line("b", "fail", DEFECT), run_line("a/long", "pass"), LACKS]
    seen = results("codex", ("codex", "1"), CLOSED, 1, [FIRST, again]).seen
    assert [(one.run, one.changed, len(one.again)) for one in seen] == [
        ("a/long", True, 1), ("b", False, 1), ("d", False, 0),
    ]  # fmt: skip


def test_each_code_is_repeated_in_the_first_run_that_shows_it() -> None:
    lines = [*FIRST, run_line("f", "fail", DEFECT, WEAKNESS), run_line("g", "fail", WEAKNESS)]
    assert [name for _, name in to_repeat(lines)] == ["b", "f"]


def test_results_are_read_back_in_the_order_of_the_data_file(tmp_path: Path) -> None:
    made = [results(name, ("p", "1"), CLOSED, 1, [FIRST]) for name in ("hermes", "codex")]
    for each in made:
        write(each, tmp_path)
    assert read(tmp_path) == made[::-1]


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*.jsonl")), ids=lambda p: p.stem)
def test_the_kept_results_count_what_they_hold(file: Path) -> None:
    (found,) = (each for each in read() if each.head.target == file.stem)
    head = found.head
    assert head.runs == head.passed + head.failed + head.unknown
    assert len(found.seen) == head.failed + head.unknown
    assert [one.run for one in found.seen] == sorted(one.run for one in found.seen)
    assert all(class_ in kept.CLASSES for one in found.seen for class_ in one.causes.values())


def of_codex(*seen: Seen) -> Results:
    """Results with these runs."""
    head = Head(
        target="codex", package="@openai/codex", version="1", language="Rust", plays=("scenarios",),
        seed=1, network=CLOSED, runs=9, scenarios=8, passed=9 - len(seen), failed=len(seen),
        unknown=0, drawn=8, lacks={"store": 3},
    )  # fmt: skip
    return Results(head, seen)
