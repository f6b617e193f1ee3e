"""Rows of a file without ids: each keeps its name when rows before it come or go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.events import Stored, StoredRow
from harness.core.history.history import History
from harness.core.values.messages import Message, digest, user
from harness.runner.row_places import in_their_places
from harness.runner.store_watch import StoreWatch


def _names(before: dict[str, str], now: str, file: str = "main/") -> list[str]:
    rows = [(StoredRow(f"{file}{n}", text), user(text)) for n, text in enumerate(now, 1)]
    return [row.id.removeprefix(file) for row, _ in in_their_places(rows, before)]


def _known(texts: str, file: str = "main/") -> dict[str, str]:
    return {f"{file}{n}": text for n, text in enumerate(texts, 1)}


@pytest.mark.parametrize(
    ("before", "now", "names"),
    [
        ("", "abc", ["1", "2", "3"]),
        ("abc", "abcd", ["1", "2", "3", "4"]),
        ("abc", "aXbc", ["1", "1.1", "2", "3"]),
        ("abc", "Xabc", ["0.1", "1", "2", "3"]),
        ("abc", "ac", ["1", "3"]),
        ("abc", "acd", ["1", "3", "4"]),
        ("abc", "aXc", ["1", "2", "3"]),
        ("abcd", "Sd", ["1", "4"]),
        ("abc", "aXbcde", ["1", "1.1", "2", "3", "4", "5"]),
        ("aab", "aaab", ["1", "2", "2.1", "3"]),
        ("abcd", "cdab", ["3", "4", "1", "2"]),
        ("abcd", "cabd", ["3", "1", "2", "4"]),
    ],
)
def test_a_row_keeps_its_name(before: str, now: str, names: list[str]) -> None:
    assert _names(_known(before), now) == names
    assert _names(_known(before, ""), now, "") == names


@given(st.lists(st.text("abc", max_size=6), min_size=2, max_size=5))
def test_no_two_rows_have_one_name_and_equal_rows_keep_theirs(looks: list[str]) -> None:
    known = dict[str, str]()
    for now in looks:
        names = _names(known, now)
        assert len(set(names)) == len(names)
        renamed = {f"main/{name}": text for name, text in zip(names, now, strict=True)}
        if sorted(now) == sorted(known.values()) and len(set(now)) == len(now):
            kept = [name for name, text in renamed.items() if known.get(name) == text]
            assert now == "" or kept, "rows that only moved"
        known = renamed


def test_a_long_list_that_is_rewritten_keeps_its_places() -> None:
    """Two thousand equal rows were compared four million times."""
    assert _names(_known("a" * 2_000), "b" + "a" * 2_000) == [str(n) for n in range(1, 2_002)]


def test_names_of_another_kind_and_other_files_stay() -> None:
    known = {"side/1": "z", "one": "q", **_known("ab")}
    assert _names(known, "Xab") == ["0.1", "1", "2"]
    rows = [(StoredRow("one", "new"), user("new"))]
    assert [row.id for row, _ in in_their_places(rows, known)] == ["one"]


class _Lines:
    """A file without ids, whose texts a test sets."""

    name = "lines"
    by_place = True
    texts = ""

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """The texts, each known by its place."""
        rows = enumerate(map(user, self.texts), 1)
        return [(StoredRow(f"main/{n}", digest(message)), message) for n, message in rows]


def test_a_repair_in_the_middle_of_a_file_changes_no_row_behind_it() -> None:
    store, history = _Lines(), History()
    for texts in ("abc", "aXbc", "aXbcd", "aXcd"):
        store.texts = texts
        StoreWatch(store, history).look(0)  # each a new life, which knows the history alone
    looks = [event for event in history.events if isinstance(event, Stored)]
    assert [[row.id for row in look.added] for look in looks[1:]] == [["main/1.1"], ["main/4"], []]
    assert [look.changed for look in looks] == [()] * 4
    assert looks[-1].gone == ("main/2",)
