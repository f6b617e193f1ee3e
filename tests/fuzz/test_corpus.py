"""The corpus keeps what is new: kinds of events, under the faults that had fired by then.

A batch sees only what every worker can know by then.
"""

from __future__ import annotations

from random import Random

import msgspec

from harness.agent import agent
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, ToolScript, Turn
from harness.core.values.brief import Brief
from harness.fuzz.corpus import GENERATION, Corpus, CorpusEntry, checks_not_asked, pairs_of
from harness.runner import run
from harness.targets.marks import highest

CHECKS = ("one", "two", "three")


def entry(*pairs: tuple[str, str], number: int = 0, not_asked: tuple[str, ...] = ()) -> CorpusEntry:
    return CorpusEntry((number,), pairs, not_asked)


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


PLAIN = Scenario(
    name="plain",
    tools={"ping": ToolScript()},
    inbox=(InboxItem(text="Hello"),),
    script=(*(Turn(use="ping", input={"n": n}) for n in range(3)), Turn(say="Done.")),
)


def test_a_run_reaches_kinds_of_events_and_how_often() -> None:
    reached = pairs_of(run(PLAIN, agent).history)
    assert len(reached) == len(set(reached))
    assert {fault for fault, _ in reached} == {""}
    kinds = {kind for _, kind in reached}
    assert {"ask main", "ask main x2", "ask main x4", "model answers tool_use"} <= kinds
    assert {"tool answers ok", "send final ok", "rows added", "ended returned"} <= kinds
    assert "ask main x8" not in kinds


def test_what_comes_after_a_fault_is_reached_under_it_and_what_came_before_is_not() -> None:
    fault = FaultSpec(kind="http.status", when=3, settings={"status": 500})
    reached = pairs_of(run(msgspec.structs.replace(PLAIN, faults=(fault,)), agent).history)
    assert ("http.status", "model answers 500") in reached
    assert ("http.status", "ended returned") in reached
    assert ("", "inbox answers ok") in reached
    assert ("http.status", "tool answers ok") in reached


def test_the_checks_that_need_a_seam_which_is_not_there_are_not_asked() -> None:
    bare = msgspec.structs.replace(PLAIN, tools={}, script=(Turn(say="Done."),))
    assert "tool_pairing" not in checks_not_asked(run(PLAIN, agent).verdict)
    assert checks_not_asked(run(bare, agent).verdict) != checks_not_asked(run(PLAIN, agent).verdict)


def test_an_example_in_which_a_number_of_the_agent_is_raised_is_kept() -> None:
    """A number that is told again, or a smaller one, is nothing new."""

    def entry_of(depth: int) -> CorpusEntry:
        def marked(brief: Brief) -> None:
            highest(depth, "depth")
            agent(brief)

        played = run(
            Scenario(name="one", inbox=(InboxItem(text="Hi"),), script=(Turn(say="Hi."),)), marked
        )
        return CorpusEntry((depth,), pairs_of(played.history))

    corpus = Corpus(CHECKS)
    kept = [corpus.take(number, entry_of(depth)) for number, depth in enumerate((3, 3, 2, 5, 4, 9))]
    assert [entry.choices for entry in kept if entry] == [(3,), (5,), (9,)]
    assert kept[3] is not None
    assert kept[3].pairs == (("", "mark depth >= 4"),)
