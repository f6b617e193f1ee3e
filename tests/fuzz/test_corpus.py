"""The corpus keeps what is new, and shows a chunk only what every worker can know by then."""

from __future__ import annotations

from random import Random

from harness.fuzz.corpus import GENERATION, Corpus, Entry

CHECKS = ("one", "two", "three")


def entry(*pairs: tuple[str, str], number: int = 0, not_asked: tuple[str, ...] = ()) -> Entry:
    return Entry((number,), pairs, not_asked)


def test_an_example_is_kept_for_what_is_new_and_for_that_alone() -> None:
    corpus = Corpus(CHECKS)
    assert corpus.take(0, entry(("", "a"), ("", "b"))) == entry(("", "a"), ("", "b"))
    assert corpus.take(1, entry(("", "a"), ("f", "a"))) == entry(("f", "a"))
    assert corpus.take(2, entry(("", "a"), ("f", "a"))) is None
    assert (len(corpus), corpus.pairs, corpus.faults) == (2, 3, 1)


def test_a_check_that_is_asked_for_the_first_time_is_something_new() -> None:
    corpus = Corpus(CHECKS)
    corpus.take(0, entry(("", "a"), not_asked=("one", "two")))
    assert corpus.coverage == 1
    assert corpus.take(1, entry(("", "a"), not_asked=("one",))) is not None
    assert corpus.coverage == 2
    assert corpus.take(2, entry(("", "a"), not_asked=("three",))) is not None
    assert corpus.coverage == 3


def test_parents_are_of_the_generations_before_the_last_one() -> None:
    corpus = Corpus(CHECKS)
    for chunk in range(2 * GENERATION):
        corpus.take(chunk, entry(("", str(chunk)), number=chunk))
    assert corpus.parents(2 * GENERATION - 1, Random(0), 99) == ()
    seen = corpus.parents(2 * GENERATION, Random(0), 99)
    assert seen == tuple((chunk,) for chunk in range(GENERATION))


def test_of_many_parents_so_many_are_drawn_by_the_number_alone() -> None:
    corpus = Corpus(CHECKS)
    for chunk in range(9 * GENERATION):
        corpus.take(chunk, entry(("", str(chunk)), number=chunk))
    chosen = corpus.parents(9 * GENERATION, Random(4), 12)
    assert len(chosen) == 12
    assert chosen == corpus.parents(9 * GENERATION, Random(4), 12)
    assert chosen != corpus.parents(9 * GENERATION, Random(5), 12)
    assert max(chosen) < (8 * GENERATION,)
