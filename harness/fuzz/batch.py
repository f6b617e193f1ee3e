"""The work of a campaign as tasks: plain data in, plain data out, for any process.

The random choices of a batch depend only on the campaign's seed, its number and its parents.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TypeAlias

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.core.values.profile import Capability
from harness.core.values.verdict import Cause
from harness.fuzz import replay
from harness.fuzz.choice_sequence import Choices, mutated
from harness.fuzz.corpus import CorpusEntry, Pair
from harness.fuzz.example import (
    CampaignTask,
    FoundRun,
    PlayedExample,
    RawFinding,
    options_of,
    played_of,
    run_of,
)
from harness.fuzz.findings import ShrinkTask, ShrunkFinding, is_late, not_shrunk, shrunk_finding
from harness.fuzz.held_examples import CauseCount, ShownByExamples, by_needs, used_by
from harness.fuzz.replay import Replayed, ReplayTask, replayed
from harness.fuzz.scenario_grammar import with_due
from harness.runner import Run
from harness.runner.run_folder import drop_kept
from harness.targets import TargetSpec, resolve
from harness.targets.process_exits import make_worker_replaceable
from harness.verdicts.reach import NOTHING, Reach

SIZE = 16
"""Examples of a batch. A run in virtual time takes milliseconds, and a batch is one message."""

SIZE_IN_REAL_TIME = 1
"""Examples of a batch for a program. A run takes seconds, so each result is reported at once."""

_VARIED = 0.5
"""The share of examples that are mutated from parents, if there are any."""


class Batch(CampaignTask, frozen=True, kw_only=True, tag="batch"):
    """A task of `count` examples; the first has the campaign's number `first` (from 1).

    `known` are the findings that have a run already, by code and cause, and `enough` the codes that
    have enough runs: a further run of them is not returned. `keep`: runs include session folders.
    """

    number: int
    first: int
    count: int
    seed: int
    parents: tuple[Choices, ...] = ()
    known: frozenset[tuple[str, Cause]] = frozenset()
    enough: frozenset[str] = frozenset()
    keep: bool = False


class BatchResult(msgspec.Struct, frozen=True, kw_only=True, tag="tried"):
    """The result of a batch.

    `entries` are examples with coverage that is new in this batch. `doubts` are the reasons of runs
    that cannot be judged. `causes` counts the examples by their causes. `last` is the
    number of the last example. `runs` are those with unknown findings; the journal does not hold
    them. `held` has findings that count only for an agent with certain capabilities, as
    `held_examples` says. `used` are the capabilities that the examples used, and `reach` is theirs.
    """

    number: int
    examples: int
    entries: tuple[CorpusEntry, ...] = ()
    found: tuple[RawFinding, ...] = ()
    doubts: tuple[str, ...] = ()
    model_calls: int = 0
    causes: tuple[CauseCount, ...] = ()
    last: int = 0
    runs: tuple[FoundRun, ...] = ()
    held: tuple[ShownByExamples, ...] = ()
    used: tuple[Capability, ...] = ()
    reach: Reach = NOTHING


Task: TypeAlias = Batch | ShrinkTask | ReplayTask
Result: TypeAlias = BatchResult | ShrunkFinding | Replayed


def is_shrinking(task: Task) -> bool:
    """Whether a task is about one finding; the time of its end does not affect other tasks."""
    return isinstance(task, ShrinkTask | ReplayTask)


def work(task: Task) -> Result:
    """Do a task; the target is imported once in each process.

    Raises InputError for a target that cannot be used.
    """
    make_worker_replaceable()
    target = resolve(task.target)
    target = msgspec.structs.replace(target, isolate=task.isolate or target.isolate)
    if isinstance(task, ReplayTask):
        return replayed(task, target)
    return play_all(task, target) if isinstance(task, Batch) else shrunk_finding(task, target)


NOT_SEPARATE = (
    "an example begins with what was said in another, so it is not judged: the agent's runs are "
    "not separate (docs/targets.md#a-session-file)"
)


def play_all(batch: Batch, target: TargetSpec) -> BatchResult:
    """Play every example of a batch.

    They share a process, because a child for each takes four times as long. So an agent that keeps
    a conversation in a module meets what the examples before said.
    """
    random = Random(f"{batch.seed} {batch.number}")
    seen: set[tuple[Pair, tuple[str, ...]]] = set()
    entries: list[CorpusEntry] = []
    shown: list[ShownByExamples] = []
    doubts: list[str] = []
    runs: list[FoundRun] = []
    known: set[tuple[object, ...]] = {((), *group) for group in batch.known}
    calls, said, reach = 0, set[str](), NOTHING
    for example in range(batch.first, batch.first + batch.count):
        if is_late(batch.until_s):
            break
        scenario, choices = _drawn(batch, example, random, target)
        run = run_of(scenario, target, keep=batch.keep, compare=batch.compare)
        played = _apart(played_of(run, choices, example), run, scenario, said)
        shown.append(ShownByExamples.of(played, example))
        entry = played.entry
        new = tuple(p for p in entry.pairs if (p, entry.not_asked) not in seen)
        if new:
            seen.update((pair, entry.not_asked) for pair in new)
            entries.append(CorpusEntry(entry.choices, new, entry.not_asked))
        runs += _runs(played, run, scenario, known, batch.enough)
        doubts += played.doubts
        calls, reach = calls + played.model_calls, reach + Reach.of(run.history, run.verdict)
    held = by_needs(one for one in shown if one.found)
    free = held.pop((), ShownByExamples())  # the findings that depend on no capability
    return BatchResult(
        number=batch.number,
        examples=len(shown),
        entries=tuple(entries),
        found=free.found,
        doubts=tuple(dict.fromkeys(doubts)),
        model_calls=calls,
        causes=free.causes,
        last=batch.first + batch.count - 1,
        runs=tuple(runs),
        held=tuple(held.values()),
        used=used_by(shown),
        reach=reach,
    )


def _apart(played: PlayedExample, run: Run, scenario: Scenario, said: set[str]) -> PlayedExample:
    """Return the example; as a doubt, if it begins with what is `said` in those before it.

    A seeded session holds drawn texts, which come again in other examples.
    """
    is_mixed = not (said.isdisjoint(run.connections.past) or scenario.session.messages)
    said.update(run.connections.said)
    if is_mixed:
        return msgspec.structs.replace(played, found=(), causes=(), doubts=(NOT_SEPARATE,))
    return played


def _drawn(
    batch: Batch, example: int, random: Random, target: TargetSpec
) -> tuple[Scenario, Choices]:
    """Return an example: mutated from parents, if there are any, or drawn from the start.

    Of one with faults, one is the fault whose turn it is, if the target can meet it. Where chance
    alone chooses, a campaign needs thousands of examples to meet each kind.
    """
    if batch.parents and random.random() < _VARIED:
        return batch.drawn(mutated(random, batch.parents), random, target)
    scenario, choices = batch.drawn((), random, target)
    options = options_of(target, batch.wire, batch.profile)
    due = batch.drawn(with_due(choices, example, batch.seed, options), random, target)
    return due if due[0].faults else (scenario, choices)


def _runs(
    played: PlayedExample,
    run: Run,
    scenario: Scenario,
    known: set[tuple[object, ...]],
    enough: frozenset[str],
) -> Iterator[FoundRun]:
    """Yield the run of an example with an unknown finding, and mark that finding as known.

    What an example shows that lacks a capability is known for the same lack alone.
    """
    new = {
        (played.needs, *found.finding.group)
        for found in played.found
        if found.code not in enough
        and known.isdisjoint([(needs, *found.finding.group) for needs in ((), played.needs)])
    }
    if new:
        known |= new
        yield FoundRun.of(played.found[0].example, scenario, run)
    elif run.kept is not None:
        drop_kept(run.kept)


def again(task: Task, status: int) -> Task:
    """Return the task to repeat after its worker has ended, because an example ends its process."""
    return msgspec.structs.replace(task, isolate=True)


def lost(task: Task) -> Result:
    """Return the result of a task that ended each process that worked on it."""
    if isinstance(task, Batch):
        last = task.first + task.count - 1
        text = f"examples {task.first} to {last} end the process that plays them"
        return BatchResult(number=task.number, examples=task.count, doubts=(text,), last=last)
    if isinstance(task, ReplayTask):
        return replay.lost(task)
    return not_shrunk(task, "its process ended")
