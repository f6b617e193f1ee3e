"""Playing: which tests a mutant meets, in which order, and what their end means."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.playing import changed_file, control, judged, played, spread, stages, within
from tests.mutation.reach import DOCUMENTS
from tests.mutation.table import KILLED, NO_TEST, NOT_RUN, SURVIVED, TIMED_OUT, Result

TESTS = """\
import product


def test_two() -> None:
    assert product.two == 2


def test_text() -> None:
    assert str(product.two)
"""
TWO, TEXT = "test_product.py::test_two", "test_product.py::test_text"
SECONDS = {TWO: 0.1, TEXT: 0.1}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of one module and its tests."""
    (tmp_path / "product.py").write_text("two = 2\n")
    (tmp_path / "test_product.py").write_text(TESTS)
    return tmp_path


@pytest.mark.real
@pytest.mark.parametrize(
    ("text", "tests", "result"),
    [
        ("two = 2", [TEXT, TWO], Result(SURVIVED, "2")),
        ("two = 3", [TEXT, TWO], Result(KILLED, TWO)),
        ("two = 3", [TEXT], Result(SURVIVED, "1")),
        ("two = ", [TEXT], Result(KILLED, "test_product.py")),
        ("import threading\nthreading.Event().wait()", [TEXT], Result(TIMED_OUT, "")),
        ("two = 2", ["test_product.py::test_gone"], Result(NOT_RUN, "pytest ends with 5")),
        ("import os\nos._exit(3)", [TEXT], Result(KILLED, "pytest ends with 3")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_chosen_tests_alone_judge(
    tree: Path, text: str, tests: list[str], result: Result
) -> None:
    (tree / "product.py").write_text(text)
    limit_s = 5 if result.word == TIMED_OUT else 100
    assert played(tree, tests, limit_s) == result


@pytest.mark.real
def test_each_stage_adds_its_tests_and_the_first_that_fails_ends_the_play(tree: Path) -> None:
    assert judged(tree, [[TWO], [TEXT]], SECONDS) == Result(SURVIVED, "2")
    assert judged(tree, [], SECONDS) == Result(NO_TEST, "0")
    (tree / "product.py").write_text("two = 3\n")
    assert judged(tree, [[TWO], ["gone.py::test_gone"]], SECONDS) == Result(KILLED, TWO)


def test_a_changed_file_comes_back_with_its_time(tree: Path) -> None:
    path = tree / "product.py"
    before = path.stat().st_mtime_ns
    with changed_file(path, "two = 3\n"):
        assert path.read_text() == "two = 3\n"
    assert (path.read_text(), path.stat().st_mtime_ns) == ("two = 2\n", before)
    assert sorted(file.name for file in tree.iterdir()) == ["product.py", "test_product.py"]


def test_the_nearest_tests_come_first_then_all_of_the_room_and_then_others() -> None:
    tests = [f"tests/{room}/test_{file}.py::test" for file in "abcd" for room in ("core", "cli")]
    tests += [f"tests/core/test_{file}.py::test_again" for file in "abc"]
    documented = f"tests/{DOCUMENTS}::test_api"
    tests.append(documented)
    near, own, wide = stages(tests, "core", dict.fromkeys(tests, 0.1))
    assert {test.partition("::")[0] for test in near} == {
        f"tests/core/test_{file}.py" for file in "abc"
    }
    assert own == ["tests/core/test_d.py::test", documented]
    assert sorted([*near, *own, *wide]) == sorted(tests)
    assert len(list(stages(tests, "core", dict.fromkeys(tests, 20.0)))[2]) == 1
    assert list(stages([], "core", {})) == []


def test_each_function_comes_before_the_next_parameters_of_any() -> None:
    assert spread(["a[1]", "a[2]", "b[1]", "a[3]", "b[2]"]) == [
        "a[1]",
        "b[1]",
        "a[2]",
        "b[2]",
        "a[3]",
    ]


def test_tests_are_taken_while_there_is_time_and_one_always() -> None:
    seconds = {"a": 2.0, "b": 2.0, "c": 2.0}
    assert within(["a", "b", "c"], seconds, 4.5) == ["a", "b"]
    assert within(["a", "b", "c"], seconds, 1.0) == ["a"]


def test_a_test_that_fails_on_the_unchanged_tree_is_found() -> None:
    killers = ["f::bad", "f::good", "f.py", "f::worse", "f::bad"]

    def unchanged(tests: list[str]) -> Result:
        failing = [test for test in tests if test in ("f::bad", "f::worse")]
        return Result(KILLED, failing[0]) if failing else Result(SURVIVED, "1")

    assert control(killers, unchanged) == {"f::bad", "f::worse"}
    assert control(["f.py"], unchanged) == set()
    with pytest.raises(SystemExit, match="did not end"):
        control(killers, lambda tests: Result(TIMED_OUT, ""))
