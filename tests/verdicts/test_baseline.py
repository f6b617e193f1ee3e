"""A baseline accepts exactly the findings, in any order, and reports new and gone ones."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.core.values.verdict import CLASSES, Cause, CrashPlace, Finding, NotApplicable, Verdict
from harness.report.command_summary import baseline_lines
from harness.verdicts.baseline import (
    COLUMNS,
    HEAD,
    VERSIONS,
    Accepted,
    BaselineChange,
    BaselineFile,
    Comparison,
    accepted,
    read,
    text,
)
from harness.verdicts.result import Result
from tests.report.fabricated import summary
from tests.report.test_command_summary import crash

FOUND = Finding("a.b", "bad", class_="defect")
OTHER = Finding("a.c", "bad", class_="weakness")
EMPTY = BaselineFile({})

findings = st.builds(
    Finding,
    st.sampled_from(["a.b", "limit.x", "script.y", "target.crashed"]) | st.text(min_size=1),
    st.text(),
    class_=st.sampled_from([*CLASSES, ""]),
    follows=st.sampled_from(["", "a.b"]) | st.text(),
    place=st.none() | st.builds(CrashPlace, st.text(), st.integers(1), st.text(), st.text()),
)
runs = st.dictionaries(st.text(min_size=1, max_size=9), st.lists(findings, max_size=4), max_size=6)


def run(name: str, *found: Finding, doubts: tuple[str, ...] = ()) -> Result:
    """A run with these findings."""
    word = "fail" if any(f.fails("weakness") for f in found) else "unknown" if doubts else "pass"
    verdict = Verdict(word, findings=found, doubts=doubts)  # type: ignore[arg-type]
    return msgspec.structs.replace(summary("x", verdict), name=name)


def update(made: list[Result], file: Path, old: BaselineFile = EMPTY) -> Comparison:
    """Write the baseline of these runs."""
    comparison = Comparison(old, update=True)
    for each in made:
        comparison.take(each)
    file.write_bytes(text(comparison.rows(), old.head).encode())
    return comparison


@given(runs, st.randoms(use_true_random=False))
def test_the_baseline_of_runs_accepts_them_exactly(
    tmp_path_factory: pytest.TempPathFactory, drawn: dict[str, list[Finding]], random: random.Random
) -> None:
    made = [run(name, *found) for name, found in drawn.items()]
    file = tmp_path_factory.getbasetemp() / "exactly.tsv"
    update(made, file)
    first = file.read_bytes()
    random.shuffle(made)
    comparison = Comparison(read(file))
    assert {comparison.take(each).word for each in made} <= {"pass"}
    assert (comparison.new, comparison.gone) == ([], [])
    update(made, file, read(file))
    assert file.read_bytes() == first


@given(runs, findings)
def test_one_finding_more_is_new_and_one_less_is_gone(
    drawn: dict[str, list[Finding]], more: Finding
) -> None:
    more = msgspec.structs.replace(more, class_="defect", code="z.new")
    made = [run(name, *found) for name, found in drawn.items()]
    comparison = Comparison(rows_of(made))
    words = [comparison.take(run(r.name, *r.verdict.findings, more)).word for r in made]
    assert words == ["fail"] * len(made)
    assert len(comparison.new) == len(rows_of([run(r.name, more) for r in made]).rows)
    larger = Comparison(rows_of([run(r.name, *r.verdict.findings, more) for r in made]))
    assert {larger.take(each).word for each in made} <= {"pass"}
    assert {row.code for row in larger.gone} <= {"z.new"}
    assert bool(larger.gone) == bool(made)


def rows_of(made: list[Result]) -> BaselineFile:
    """The rows of a baseline of these runs."""
    comparison = Comparison(BaselineFile({}), update=True)
    for each in made:
        comparison.take(each)
    return BaselineFile(comparison.rows())


def test_a_narrower_selection_calls_nothing_gone_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    update([run("a", FOUND), run("b", FOUND), run("c", FOUND), run("d", FOUND)], file)
    lacks = NotApplicable("run", "needs cancel", "cancel", "unused")
    absent = msgspec.structs.replace(
        run("c"), verdict=Verdict("not_applicable", not_applicable=(lacks,))
    )
    some = [run("a"), absent, run("d", doubts=("why",))]
    comparison = update(some, file, read(file))
    assert [row.run for row in comparison.gone] == ["a"]
    assert [row.run for row in read(file).rows] == ["b", "c", "d"]


def test_a_crash_is_known_by_its_file_and_error_and_not_by_its_line() -> None:
    rows = rows_of([run("a", crash("x.py:5", "KeyError", "1"))])
    assert Comparison(rows).take(run("a", crash("x.py:9", "KeyError", "2"))).word == "pass"
    assert Comparison(rows).take(run("a", crash("x.py:5", "OSError", "1"))).word == "fail"
    assert Comparison(rows).take(run("b", crash("x.py:5", "KeyError", "1"))).word == "fail"


def test_limits_and_script_findings_are_accepted_and_what_fails_nothing_is_not_written() -> None:
    below = Finding("a.d", "taste", class_="advice")
    rows = rows_of(
        [run("a", Finding("limit.model_calls", "x"), Finding("script.miss", "x"), below)]
    )
    assert [row.code for row in sorted(rows.rows)] == ["limit.model_calls", "script.miss"]


def test_a_doubt_stays_a_doubt() -> None:
    doubted = run("a", FOUND, doubts=("the check x crashed",))
    assert Comparison(rows_of([doubted])).take(doubted).word == "unknown"


def test_an_editor_may_strip_the_end_of_a_row(tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    file.write_text(f"{HEAD}\n{COLUMNS}\na\ta.b\n\n", "utf-8")
    assert Comparison(read(file)).take(run("a", FOUND)).word == "pass"


def test_a_note_of_the_user_stays(tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    update([run("a", FOUND)], file)
    assert file.read_text("utf-8") == f"{HEAD}\n{COLUMNS}\na\ta.b\t\n"
    file.write_text(f"{HEAD}\n{COLUMNS}\na\ta.b\t\tissue 7\n", "utf-8")
    update([run("a", FOUND, OTHER)], file, read(file))
    assert file.read_text("utf-8").splitlines()[2:] == ["a\ta.b\t\tissue 7", "a\ta.c\t"]


def test_a_large_baseline_is_read(tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    long = "a-scenario-of-a-long-name" * 20
    rows = {Accepted(f"{long}/{n}", "a.b", ""): "" for n in range(3000)}
    file.write_text(text(rows), "utf-8")
    assert file.stat().st_size > 1024 * 1024
    assert read(file) == BaselineFile(rows)


BAD = {
    "empty": (b"", ":1: not a baseline of this version"),
    "another version": (b"# harness baseline, version 3\n", ":1: not a baseline"),
    "YAML": (b"findings:\n- a\n", ":1: not a baseline"),
    "no columns": (f"{HEAD}\na\tb\t\n".encode(), ":2: the columns are not"),
    "a torn row": (f"{HEAD}\n{COLUMNS}\na\tb\t\na\n".encode(), ":4: a row is run, code"),
    "a conflict": (f"{HEAD}\n{COLUMNS}\n<<<<<<< HEAD\n".encode(), ":3: a row is run, code"),
    "no code": (f"{HEAD}\n{COLUMNS}\na\t\t\n".encode(), ":3: a row is run, code"),
    "too many fields": (f"{HEAD}\n{COLUMNS}\na\tb\tc\td\te\n".encode(), ":3: a row is"),
    "not UTF-8": (HEAD.encode() + b"\n\xff", ": not UTF-8"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_file_is_one_line_with_its_place(name: str, tmp_path: Path) -> None:
    data, said = BAD[name]
    file = tmp_path / "b.tsv"
    file.write_bytes(data)
    with pytest.raises(InputError) as error:
        read(file)
    assert str(error.value).startswith(f"{file}{said}")
    assert "\n" not in str(error.value)


def test_what_is_told() -> None:
    rows = rows_of([run(str(n), FOUND) for n in range(6)])
    comparison = Comparison(rows)
    for each in (*(run(str(n)) for n in range(5)), run("5", FOUND, OTHER)):
        comparison.take(each)
    new, gone = tuple(comparison.new), tuple(comparison.gone)
    change = BaselineChange("b.tsv", comparison.standing, new, gone, written=False)
    assert list(baseline_lines(change)) == [
        "baseline b.tsv: 1 accepted, 1 new, 5 gone; --update-baseline writes it",
        *(f"  gone: a.b in {n}" for n in range(3)),
        "  and 2 more are gone",
    ]
    assert comparison.new == [accepted(run("5"), OTHER)]


TOOL = msgspec.structs.replace(FOUND, cause=Cause(tool="read file"), session="main", seam="tool")


def test_two_findings_of_one_code_are_told_apart_by_their_cause_and_place() -> None:
    rows = rows_of([run("a", TOOL)])
    assert [row.cause for row in rows.rows] == ['session=main seam=tool tool="read file"']
    assert Comparison(rows).take(run("a", TOOL)).word == "pass"
    for other in (FOUND, msgspec.structs.replace(TOOL, session="other")):
        assert Comparison(rows).take(run("a", other)).word == "fail"


def test_a_file_of_version_1_keeps_its_rows_and_its_version(tmp_path: Path) -> None:
    file, head = tmp_path / "b.tsv", next(iter(VERSIONS))
    crashed = crash("x.py:5", "KeyError", "1")
    rows = ["a\ta.b\t", "a\ttarget.crashed\tx.py: KeyError"]
    file.write_text("\n".join((head, COLUMNS, *rows, "")), "utf-8")
    assert Comparison(read(file)).take(run("a", TOOL, crashed)).word == "pass"
    update([run("a", TOOL, crashed)], file, read(file))
    assert file.read_text("utf-8").splitlines()[:1] == [head]
    assert {row.code for row in read(file).rows} == {"a.b", "target.crashed"}
