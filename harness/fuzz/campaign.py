"""A campaign: plays batches until its time is over, and shrinks and writes each finding.

It folds results in task order, so the number of workers does not change the outcome. With a time
limit, shrinking gets half of the workers' time, and one finding an eighth of the remaining time. A
program plays few runs, so without this limit the first finding would take all of them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import UNSET

from harness.core.values.errors import InputError
from harness.core.values.profile import NO_PROFILE
from harness.engines import Engine
from harness.fuzz import batch, campaign_journal, findings
from harness.fuzz.batch import Batch, BatchResult, Result, Task
from harness.fuzz.campaign_journal import CampaignPlan, Journal, Told
from harness.fuzz.corpus import GENERATION, Corpus
from harness.fuzz.example import FoundRun, drop_run, write_run
from harness.fuzz.findings import Findings, ShrinkTask, ShrunkFinding, is_late
from harness.fuzz.held_examples import CauseCounts, HeldExamples, count_in
from harness.fuzz.replay import Replayed, ReplayTask, TakenExample, TakenExamples, TakenUp
from harness.plugins import loaded_modules
from harness.redaction.masking import mask
from harness.verdicts.reach import NOTHING

_PARENTS = 12
"""The most parents of a batch."""


ONE_FINDING = 1 / 8
"""The largest share of the remaining time for one finding."""

LEAST_S = 10.0
"""The least time for a finding, if the campaign has it."""


class TimeShare:
    """The time of tasks so far; running tasks count up to now."""

    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        self._spent_s = {False: 0.0, True: 0.0}
        self._under_way: dict[Hashable, tuple[bool, float]] = {}

    def begun(self, task: Hashable, *, shrinks: bool) -> None:
        """Record that a task begins."""
        self._under_way[task] = shrinks, self._now_s()

    def ended(self, task: Hashable) -> None:
        """Record that a task has ended; an unknown task began before a resume."""
        if task in self._under_way:
            shrinks, begun_s = self._under_way.pop(task)
            self._spent_s[shrinks] += self._now_s() - begun_s

    @property
    def may_shrink(self) -> bool:
        """Whether shrinking has used at most its half."""
        return self._all_s(True) <= self._all_s(False)

    def _all_s(self, shrinks: bool) -> float:
        now_s = self._now_s()
        running = (now_s - begun for kind, begun in self._under_way.values() if kind is shrinks)
        return self._spent_s[shrinks] + sum(running)

    def end_of_a_finding(self, until_s: float) -> float:
        """Return when shrinking must end for a finding that begins now."""
        now_s = self._now_s()
        return min(until_s, now_s + max(LEAST_S, ONE_FINDING * (until_s - now_s)))


class Campaign:
    """The state of a campaign. `checks` are the names of all checks.

    `candidates` is the number of scenarios that were played to shrink findings. The journal does
    not have it: it may differ between processes that come to the same finding.
    After `until_s` (seconds of Unix time) it has no task, neither to explore nor to shrink.
    """

    def __init__(self, plan: CampaignPlan, checks: Iterable[str]) -> None:
        self.plan = plan
        self.corpus = Corpus(checks)
        self.findings = Findings()
        self.doubts = Counter[str]()
        self.causes: CauseCounts = {}
        self.held, self.reach, self.taken = HeldExamples(), NOTHING, TakenExamples()
        self.examples = self.model_calls = self.candidates = 0
        self._taken = self._handed_out = self._reserved = 0
        self._shrinking: Counter[str] = Counter()
        self._begun: set[tuple[str, int]] = set()
        self._share = TimeShare()
        self.until_s: float | None = None

    def task(self, most: int | None) -> Task | None:
        """Return the next task: an example to take up, else a finding to shrink, else a batch; None
        if there is none now.

        The campaign plays at most `most` examples in all.
        """
        if is_late(self.until_s):
            return None
        if (taken := self.taken.next()) is not None:
            return self._replay_task(*taken)
        if (self.until_s is None or self._share.may_shrink) and (task := self._shrinking_task()):
            return task
        size = self.plan.size
        left = size if most is None else min(size, most - self._reserved)
        return self._batch(left) if left > 0 else None

    def _shrinking_task(self) -> ShrinkTask | None:
        """Return the next finding to shrink: one of the code with the fewest begun."""
        left = (f for f in self.findings.waiting if (f.code, f.example) not in self._begun)
        found = min(left, key=lambda f: self._shrinking[f.code], default=None)
        if found is None:
            return None
        self._shrinking[found.code] += 1
        self._begun.add((found.code, found.example))
        self._share.begun((found.code, found.example), shrinks=True)
        until_s = self.until_s and self._share.end_of_a_finding(self.until_s)
        return ShrinkTask(found=found, until_s=until_s, **self._shared)

    def _replay_task(self, number: int, taken: TakenExample) -> ReplayTask:
        self._share.begun(("taken", number), shrinks=True)
        until_s = self.until_s and self._share.end_of_a_finding(self.until_s)
        return ReplayTask(number=number, taken=taken, until_s=until_s, **self._shared)

    @property
    def _shared(self) -> dict[str, Any]:
        """What all tasks share."""
        plan = self.plan
        return {
            "target": plan.target,
            "wire": plan.wire,
            "fail_on": plan.fail_on or None,
            "profile": plan.profile or NO_PROFILE,
            "compare": bool(plan.compare),
            "orders": bool(plan.orders),
        }

    def _batch(self, count: int) -> Batch:
        number, first = self._handed_out, self._reserved + 1
        self._handed_out += 1
        self._reserved += count
        random = Random(f"{self.plan.seed} parents {number}")
        self._share.begun(number, shrinks=False)
        return Batch(
            number=number,
            first=first,
            count=count,
            seed=self.plan.seed,
            parents=self.corpus.parents(number, random, _PARENTS),
            until_s=self.until_s,
            known=self.findings.known,
            enough=self.findings.enough,
            keep=bool(self.plan.keep),
            **self._shared,
        )

    def take(self, result: Result) -> Result:
        """Add a result to the state; return it in the form for the journal."""
        if isinstance(result, ShrunkFinding):
            self._share.ended((result.code, result.example))
            self.candidates += result.candidates
            result = msgspec.structs.replace(result, candidates=0)
            self.findings.reduced(result)
            return result
        if isinstance(result, Replayed):
            self._share.ended(("taken", result.number))
            return self._take_replayed(result)
        self._share.ended(result.number)
        self._taken = max(self._taken, result.number + 1)
        self._handed_out = max(self._handed_out, self._taken)
        self.examples += result.examples
        self._reserved = max(self._reserved, self.examples, result.last)
        self.model_calls += result.model_calls
        self.reach += result.reach
        settled = self.held.take(result.used, result.held)
        for causes in (result.causes, *(shown.causes for shown in settled)):
            count_in(self.causes, causes)
        self.doubts.update(result.doubts)
        kept = (self.corpus.take(result.number, entry) for entry in result.entries)
        entries = tuple(entry for entry in kept if entry is not None)
        shown = (*result.found, *(found for one in settled for found in one.found))
        found = tuple(found for found in shown if self.findings.found(found))
        return msgspec.structs.replace(result, entries=entries, found=found, runs=())

    def _take_replayed(self, result: Replayed) -> Replayed:
        self.reach += result.reach
        if result.shown is not None:
            self.candidates += result.shown.candidates
            shown = msgspec.structs.replace(result.shown, candidates=0)
            result = msgspec.structs.replace(result, shown=shown)
            self.findings.reduced(shown)
        if result.state == "doubtful":
            self.doubts[f"{result.name}: {result.reason}"] += 1
        self.taken.results[result.number] = result
        return result

    def told(self, line: Told) -> None:
        """Add a line of the journal to the state."""
        if isinstance(line, TakenUp):
            self.taken.examples = line.examples
        else:
            self.take(line)

    @property
    def has_played(self) -> bool:
        """Whether an example ended, drawn or taken up."""
        return bool(self.examples or self.taken.results)

    def new_of(self, line: Result) -> ShrunkFinding | None:
        """Return the new finding of an added result, if it has one."""
        shown = line.shown if isinstance(line, Replayed) else line
        return next((kept for kept in self.findings.kept.values() if kept is shown), None)


def begin(
    folder: Path, plan: CampaignPlan, checks: Iterable[str], taken: Sequence[TakenExample] = ()
) -> tuple[Campaign, Journal]:
    """Begin a campaign in a folder with the loaded plug-ins; write the first line of the journal.

    It plays the `taken` examples first. Raises InputError for a target that holds a secret.
    """
    if mask(plan.target) != plan.target:
        what = (
            "holds a secret, and a campaign stores its target: read the secret from a file instead"
        )
        raise InputError(what, "--target")
    plan = msgspec.structs.replace(plan, plugins=loaded_modules() or UNSET)
    written = Journal(folder)
    written.write(plan)
    campaign = Campaign(plan, checks)
    if taken:
        written.write(line := TakenUp(examples=tuple(taken)))
        campaign.told(line)
    return campaign, written


def resume(folder: Path, checks: Iterable[str]) -> tuple[Campaign, Journal]:
    """Return the campaign of a folder as its journal left it, with the files of all findings.

    Raises InputError for a folder without a readable journal, and for a campaign that began with
    other plug-ins than the loaded ones.
    """
    record = campaign_journal.read(folder)
    begun_with = record.plan.plugins or ()
    if begun_with != loaded_modules():
        now = ", ".join(loaded_modules()) or "none"
        what = f"begun with the plug-ins {', '.join(begun_with) or 'none'}; now loaded: {now}"
        raise InputError(what, str(folder))
    campaign = Campaign(record.plan, checks)
    for line in record.lines:
        campaign.told(line)
    for reduced in campaign.findings.kept.values():
        _write(folder, reduced, record.plan)
    return campaign, Journal(folder, record.whole_bytes)


def run(
    campaign: Campaign,
    engine: Engine,
    written: Journal,
    folder: Path,
    *,
    examples: int | None = None,
) -> Iterator[Result]:
    """Continue a campaign; yield each result after it is in the journal.

    It ends after `examples` in all with every finding shrunk, or when its time is over. The run of
    a finding is on disk before the finding is in the journal. With a time limit, an interrupt keeps
    finished results even if an earlier task still runs.
    """
    parked: dict[int, FoundRun] = {}
    try:
        for result in engine.each(
            batch.work,
            lambda: campaign.task(examples),
            window=GENERATION,
            lost=batch.lost,
            again=batch.again,
            loose=batch.is_shrinking,
            rest=campaign.until_s is not None,
        ):
            line = campaign.take(result)
            if (new := campaign.new_of(line)) is not None:
                _write(folder, new, campaign.plan)
            if isinstance(line, BatchResult) and isinstance(result, BatchResult):
                _write_runs(campaign, folder, line, (*result.runs, *parked.values()), parked)
            written.write(line)
            yield line
    finally:
        for found in parked.values():
            drop_run(found)


def _write(folder: Path, reduced: ShrunkFinding, plan: CampaignPlan) -> None:
    """Write the files of a shrunk finding."""
    findings.write(folder, reduced, plan.target, plan.profile_name or "", plan.store or "")


def _write_runs(
    campaign: Campaign,
    folder: Path,
    taken: BatchResult,
    runs: Iterable[FoundRun],
    parked: dict[int, FoundRun],
) -> None:
    """Write the runs whose findings were taken, and park those whose findings are held back."""
    chosen = {found.example for found in taken.found}
    for run in runs:
        parked.pop(run.example, None)
        if run.example in chosen:
            write_run(folder, run)
        elif campaign.held.waits(run.example):
            parked[run.example] = run
        else:
            drop_run(run)
