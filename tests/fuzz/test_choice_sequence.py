"""Examples as sequences of choices: replayed exactly, and any variation is an example too."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from harness.fuzz.choice_sequence import LONGEST, ChoiceSequence, mutated
from harness.fuzz.scenario_grammar import Options, scenario_of

NUMBERS = st.lists(st.integers(0, 1 << 16), max_size=80).map(tuple)
OPTIONS = Options(faults=("*",))


@given(NUMBERS, st.integers(0))
def test_what_was_drawn_gives_the_same_scenario_again(given: tuple[int, ...], seed: int) -> None:
    drawing = ChoiceSequence(given, Random(seed))
    scenario = scenario_of(drawing, OPTIONS)
    again = ChoiceSequence(drawing.made, Random(seed + 1))
    assert scenario_of(again, OPTIONS) == scenario
    assert again.made == drawing.made


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.integers(0))
def test_a_variation_of_anything_is_an_example(parents: list[tuple[int, ...]], seed: int) -> None:
    choices = mutated(Random(seed), parents)
    assert mutated(Random(seed), parents) == choices
    assert len(choices) <= LONGEST
    assert scenario_of(ChoiceSequence(choices, Random(0)), OPTIONS).inbox


@given(st.integers(0))
def test_a_drawing_answers_within_bounds_and_given_numbers_first(seed: int) -> None:
    drawing = ChoiceSequence((7, 8), Random(seed))
    answers = [drawing(5), drawing(9), drawing(3), drawing(1)]
    assert answers[:2] == [2, 8]
    assert 0 <= answers[2] < 3
    assert answers[3] == 0
