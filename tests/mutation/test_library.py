"""What we use of cosmic-ray; only the environment of `make mutation` has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.sample import CodeMutant
from tests.mutation.table import KILLED, NO_TEST, NOT_RUN, SURVIVED, TIMED_OUT, Result

pytest.importorskip("cosmic_ray", reason="`make mutation` runs this")

FILE, TEXT = (
    "harness/core/file.py",
    "def total(*, count: int) -> bool:\n    return not count == 1\n",
)


def test_a_mutant_is_the_same_change_each_time() -> None:
    from tests.mutation.library import mutants_of, mutated

    found = list(mutants_of(FILE, TEXT))
    texts = {mutated(TEXT, mutant) for mutant in found}
    assert len(found) == len(set(found))
    assert TEXT.replace("not ", "") in {
        text and text.replace("  count", " count") for text in texts
    }
    assert TEXT.replace("==", "!=") in texts
    assert TEXT.replace("1", "2") in {text and text.replace("  2", " 2") for text in texts}


def test_what_python_refuses_is_no_mutant() -> None:
    from tests.mutation.library import mutants_of, mutated

    stars = [m for m in mutants_of(FILE, TEXT) if m.name.startswith("ReplaceBinaryOperator_Mul")]
    assert stars
    assert not any(mutated(TEXT, mutant) for mutant in stars)


def test_a_session_keeps_mutants_and_results(tmp_path: Path) -> None:
    from tests.mutation.library import Session

    mutant = CodeMutant(FILE, "core/AddNot", 0, (2, 4), (2, 9))
    words = (KILLED, TIMED_OUT, SURVIVED, NO_TEST, NOT_RUN)
    session = Session(tmp_path / "session.sqlite")
    for number, word in enumerate(words):
        session.add(number, mutant)
        session.keep(number, Result(word, f"said {number}"), f"patch {number}")
    again = Session(tmp_path / "session.sqlite")
    assert again.mutants == dict.fromkeys(range(5), mutant)
    assert again.results == {n: Result(word, f"said {n}") for n, word in enumerate(words)}
    assert again.patches[4] == "patch 4"
