"""The chains of all mutants, beside the reference agent under the same seed."""

from __future__ import annotations

import pytest

from tests import mutants
from tests.diagnosis.mutant_chains import Row, row


def test_a_row_is_near_up_to_two_calls_after_the_first_that_differs() -> None:
    assert Row("a", "x.y", 5, (2, 7), 0).is_near
    assert not Row("a", "x.y", 5, (2, 4, 8), 0).is_near


@pytest.mark.real
@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_four_of_five_chains_name_what_the_mutant_does_wrong_first() -> None:
    rows = [row(name) for name, _, _ in mutants.every()]
    asked = [each for each in rows if each.differs > 1]
    assert len(asked) > 150
    assert sum(each.is_near for each in asked) >= 0.8 * len(asked)
