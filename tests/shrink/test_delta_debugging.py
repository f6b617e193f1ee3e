"""The cuts: they find the least that keeps, in few tries, and never leave the range."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from harness.core.scenario.scenario import InboxItem, Scenario
from harness.shrink.delta_debugging import WORD, in_turn, lowered, mapped, shortened, subsets
from tests.shrink.drive import candidates, last


@given(st.integers(0, 40), st.data())
def test_chunks_leave_exactly_the_places_that_are_needed(count: int, data: st.DataObject) -> None:
    needed = data.draw(st.sets(st.integers(0, count - 1)) if count else st.just(set()))
    found = last(subsets(count), lambda kept: needed <= set(kept), tuple(range(count)))
    assert found == tuple(sorted(needed))


def test_chunks_take_all_away_first_and_single_places_last() -> None:
    assert candidates(subsets(4)) == [
        *[(), (2, 3), (0, 1)],
        *[(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)],
    ]


def test_chunks_come_again_while_single_places_go() -> None:
    """The first place can only go once the second has gone."""
    found = last(subsets(3), lambda kept: 2 in kept and (0 in kept or 1 not in kept))
    assert found == (2,)


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_lowered_finds_the_least_number_in_logarithmic_tries(number: int, least: int) -> None:
    tried: list[int] = []

    def keeps(candidate: int) -> bool:
        tried.append(candidate)
        return candidate >= least

    assert last(lowered(number), keeps, number) == min(number, least)
    assert all(1 <= candidate < number for candidate in tried)
    assert len(tried) == len(set(tried)) <= 2 * number.bit_length() + 2


def test_lowered_from_a_least_number() -> None:
    assert last(lowered(9, 2), lambda n: True) == 2
    assert candidates(lowered(2, 2)) == []


@given(st.text(max_size=200), st.integers(0, 20))
@example(f" {'0' * WORD}", 0)
@example(f" {'0' * (WORD + 1)}", 0)
def test_a_shortened_text_is_a_part_of_its_words(text: str, needed: int) -> None:
    found = last(shortened(text), lambda short: len(short.split()) >= needed, text)
    assert found is not None
    if found != text:
        assert found.strip()
        assert found in " ".join(text.split())
    assert all(len(c) < max(len(text), 2) for c in candidates(shortened(text)))


def test_a_shortened_text_is_the_words_around_what_is_needed() -> None:
    text = "one two three four five"
    assert last(shortened(text), lambda short: "three" in short) == "three"


def test_one_long_word_is_cut_and_a_usual_one_is_not() -> None:
    assert last(shortened("a" * 500), lambda short: len(short) >= 7) == "a" * 7
    assert candidates(shortened("b" * WORD)) == []


def test_what_cannot_be_made_is_no_candidate_and_not_kept() -> None:
    made = mapped(lowered(8), lambda n: str(n) if n >= 4 else None)
    assert candidates(made, lambda text: True) == ["7", "5", "4"]


def test_in_turn_each_begins_where_the_one_before_ended() -> None:
    first = Scenario(name="a", inbox=(InboxItem(text="one"),))
    second = Scenario(name="b")

    def to_second(scenario: Scenario):  # noqa: ANN202
        yield second

    def seen(scenario: Scenario):  # noqa: ANN202
        assert scenario == second
        yield scenario

    assert candidates(in_turn(first, [to_second, seen]), lambda c: True) == [second, second]
