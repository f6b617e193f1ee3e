"""`python -m tests.fuzz.mutant_table [NAME ...]`: how soon a campaign finds each wrong agent.

A campaign gets only the agent, on the wire of its defect, and no scenario. A mutant is found with
the first chunk of examples that shows the mutant's own finding. Any other finding counts too, if
the reference agent does not show it on the same scenario. In a chunk with both, the own finding
counts. The quick client comes first. It reads no streams, so a mutant that passes it meets the SDK
too. A mutant with a defect in streams meets only the SDK. The columns are: mutant, examples to
find, shrunk size (turns, faults), seconds, code, and `own` for the mutant's own finding.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from harness.checks import names
from harness.core.values.errors import nearest
from harness.engines import Engine, Serial
from harness.engines.local import Local
from harness.fuzz import batch
from harness.fuzz.batch import BatchResult
from harness.fuzz.campaign import Campaign
from harness.fuzz.campaign_journal import CampaignPlan
from harness.fuzz.findings import ShrunkFinding
from tests import mutants

EXAMPLES = 5_000
QUICK = 1_500
"""How many of them ask the model without the SDK."""

SEED = 7

_SPECIFIED = "what a container was asked for is right or wrong by a scenario's `inputs` alone"

OUT_OF_REACH: dict[str, str] = {
    "bridge_forgets_extra_args": _SPECIFIED,
    "extra_args_become_text": _SPECIFIED,
    "file_tool_has_its_own_settings": _SPECIFIED,
    "two_containers_at_once": "how many containers there may be, a scenario's `calls` alone say",
    "silent_when_taken": "`persistence.second_agent` needs a scenario's word, so it is not drawn",
    "words_become_values": "no generated text is a word that may be read as a value",
    "writes_for_ever": "a store that refuses a write eleven times running is not drawn",
}
"""Mutants that no generated scenario shows, and why: a campaign does not try."""


class Row(msgspec.Struct, frozen=True):
    """What a campaign against one mutant came to; `examples` is 0 if it found nothing."""

    name: str
    examples: int
    turns: int
    faults: int
    seconds: float
    code: str
    own: bool = False

    def __str__(self) -> str:
        if self.name in OUT_OF_REACH:
            return (
                f"{self.name:36} {'-':>6} {'':11} {'':9}  out of reach: {OUT_OF_REACH[self.name]}"
            )
        if not self.examples:
            return f"{self.name:36} {'-':>6} {'':11} {self.seconds:7.1f} s  not found"
        size = f"{self.turns} t, {self.faults} f"
        found = f"{self.name:36} {self.examples:6} {size:11} {self.seconds:7.1f} s  {self.code}"
        return f"{found}  own" if self.own else found


def row(name: str, examples: int = EXAMPLES, seed: int = SEED) -> Row:
    """Look for one mutant, until the first finding."""
    if name in OUT_OF_REACH:
        return _lost(name)
    began_s = time.monotonic()
    mutant = mutants.named(name).mutant
    own, played = mutant.is_shown_by, 0
    for plan, count in plans(name, mutant, examples, seed):
        found = _first(Campaign(plan, names()), count, own)
        if found is not None:
            seconds, size = time.monotonic() - began_s, (found.turns, found.faults)
            return Row(name, played + found.example, *size, seconds, found.code, own(found.code))
        played += count
    return Row(name, 0, 0, 0, time.monotonic() - began_s, "")


def plans(
    name: str, mutant: mutants.Mutant, examples: int, seed: int
) -> Iterator[tuple[CampaignPlan, int]]:
    """The campaigns against a mutant, one after the other, and how many examples each may play."""
    target = mutants.named(name).target
    played, _, world = mutant.scenario.partition("+")
    wire = played.partition("@")[2] or "anthropic"
    quick = min(QUICK, examples) if (wire, world) == ("anthropic", "") else 0
    if quick:
        quickly = f"{target}?client=plain"
        yield CampaignPlan(target=quickly, seed=seed, wire=wire, fail_on="advice"), quick
    if examples > quick:
        plan = CampaignPlan(target=target, seed=seed, wire=wire, fail_on="advice")
        yield plan, examples - quick


def _first(campaign: Campaign, examples: int, own: Callable[[str], bool]) -> ShrunkFinding | None:
    while (task := campaign.task(examples)) is not None:
        result = batch.work(task)
        if isinstance(result, BatchResult):
            result = msgspec.structs.replace(result, doubts=())
        line = campaign.take(result)
        campaign.findings.waiting.sort(key=lambda found: not own(found.code))
        if (new := campaign.new_of(line)) is not None:
            return new
    return None


def rows(chosen: Sequence[str], examples: int, workers: int = 1) -> Iterator[Row]:
    """The rows of these mutants, of all without any, in the order of their names."""
    known = [name for name, _, _ in mutants.every() if not chosen or name in chosen]
    left = iter(known)
    engine: Engine = Local(workers) if workers > 1 else Serial()
    work = partial(row, examples=examples)
    yield from engine.each(work, lambda: next(left, None), window=len(known), lost=_lost)


def _lost(name: str) -> Row:
    return Row(name, 0, 0, 0, 0.0, "")


def summary(table: Sequence[Row]) -> str:
    """How many were found of those in reach, and how small they are in the middle."""
    table = [r for r in table if r.name not in OUT_OF_REACH]
    found = [r for r in table if r.examples]
    if not found:
        return f"0 of {len(table)} found"
    middle = [
        statistics.median(sizes) for sizes in ([r.turns for r in found], [r.faults for r in found])
    ]
    own = sum(r.own for r in found)
    size = f"median {middle[0]:g} turns, {middle[1]:g} faults"
    return f"{len(found)} of {len(table)} found, {own} by their own code; {size}"


def main() -> int:
    """Print the table as it grows; 1 if a wrong agent in reach is not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.mutant_table")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    known = {name for name, _, _ in mutants.every()}
    for name in asked.names:
        if name not in known:
            parser.error(f"there is no wrong agent {name!r}; {nearest(name, known)}")
    table = []
    for line in rows(asked.names, asked.examples, asked.workers):
        print(line, flush=True)
        table.append(line)
    print(summary(table))
    return int(any(not line.examples and line.name not in OUT_OF_REACH for line in table))


if __name__ == "__main__":
    sys.exit(main())
