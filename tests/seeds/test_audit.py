"""The table of the audit fits the product: each statement has a change that can be made."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.seeds import STATEMENTS
from tests.seeds.audit import KILLED, SURVIVED, outcome
from tests.seeds.changes import ROOT, UNCHANGED, Change, changes

ALL = changes()


def test_each_statement_has_a_change_or_a_reason() -> None:
    assert sorted([*ALL, *UNCHANGED]) == list(range(1, STATEMENTS + 1))


@pytest.mark.parametrize("number", ALL)
def test_a_change_is_of_the_product_and_can_be_made(number: int) -> None:
    for change in ALL[number]:
        assert change.file.startswith("harness/")
        assert change.text != change.replacement
        ast.parse(change.place(ROOT))


def test_a_text_that_is_not_there_once_is_told() -> None:
    for text in ("there is no such line", "import"):
        with pytest.raises(ValueError, match=r"statement 7: .* mend the row"):
            Change(7, "harness/agent/agent_loop.py", text, "").place(ROOT)


@pytest.mark.parametrize(("replacement", "word"), [("1 + 1", SURVIVED), ("3", KILLED)])
def test_tests_that_still_pass_let_a_change_survive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replacement: str, word: str
) -> None:
    """A tree of one module and its test; the module is as before when the audit is done."""
    tree, kept = tmp_path / "tree", tmp_path / "kept"
    for folder in (tree, kept):
        folder.mkdir()
        (folder / "product.py").write_text("two = 2\n")
    (tree / "test_product.py").write_text(
        "import product\ndef test_two():\n    assert product.two == 2\n"
    )
    monkeypatch.setattr("tests.seeds.audit.ROOT", kept)
    change = Change(1, "product.py", "2", replacement)
    assert outcome(tree, [change], ["test_product.py"]) == word
    assert (tree / "product.py").read_text() == "two = 2\n"
