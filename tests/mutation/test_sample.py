"""The sample: rooms share by their lines, a place is drawn once, a seed means the same."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from tests.mutation.places import Places
from tests.mutation.sample import CodeMutant, drawn, matters

LINES = {"core": 300, "checks": 100}
NAMES = ("core/AddNot", "core/NumberReplacer")
MANY = [
    CodeMutant(f"harness/{room}/file.py", name, line, (line, 0), (line, 1))
    for room in LINES
    for name in NAMES
    for line in range(1, 81)
]


def test_rooms_share_by_their_lines() -> None:
    rooms = Counter(mutant.room for mutant in islice(drawn(MANY, LINES, 1), 40))
    assert rooms == {"core": 30, "checks": 10}


def test_a_place_is_drawn_once_and_every_place_is() -> None:
    found = list(drawn(MANY, LINES, 1))
    assert len(found) == len({(mutant.file, mutant.start) for mutant in found}) == 160
    assert {mutant.operator for mutant in found} == set(NAMES)


def test_a_seed_means_the_same_in_any_order_and_another_seed_another_draw() -> None:
    assert list(drawn(MANY, LINES, 1)) == list(drawn(reversed(MANY), LINES, 1))
    assert list(drawn(MANY, LINES, 1)) != list(drawn(MANY, LINES, 2))


def test_a_room_that_is_used_up_leaves_the_rest_to_others() -> None:
    few = [mutant for mutant in MANY if mutant.room == "checks" or mutant.start[0] == 1]
    assert Counter(mutant.room for mutant in drawn(few, LINES, 1)) == {"core": 1, "checks": 80}


TEXT = """\
def total(*numbers: int | None) -> bool:
    return numbers is None or len(numbers) + 1 == 2
"""


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("ReplaceBinaryOperator_Add_Sub", "+ 1", True),
        ("ReplaceBinaryOperator_Mul_Sub", "*numbers", False),
        ("ReplaceBinaryOperator_BitOr_Sub", "| None", False),
        ("ReplaceComparisonOperator_Is_IsNot", "is None", True),
        ("ReplaceComparisonOperator_Is_Eq", "is None", False),
        ("ReplaceComparisonOperator_Eq_Is", "== 2", False),
        ("ReplaceComparisonOperator_Eq_NotEq", "== 2", True),
        ("ReplaceOrWithAnd", "or len", True),
    ],
)
def test_a_mutant_that_no_test_can_notice_is_not_drawn(name: str, text: str, kept: bool) -> None:
    before, _, _ = TEXT.partition(text)
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)
    mutant = CodeMutant(
        "harness/core/file.py", f"core/{name}", 0, (line, column), (line, column + 1)
    )
    assert matters(mutant, Places(TEXT)) is kept
