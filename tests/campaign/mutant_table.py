"""`python -m tests.campaign.mutant_table [NAME ...]`: how soon a campaign finds each wrong agent.

No scenario is given, only the agent. A mutant is found with the first chunk of examples that has
the finding that was made for it, or any other that the reference agent does not show on the same
scenario; of a chunk that has both the first counts. Printed are: mutant, examples to find, shrunk
size (turns, faults), seconds, code, and `own` for the finding that was made for it.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from harness.campaign import chunks
from harness.campaign.campaign import Campaign
from harness.campaign.chunks import Tried
from harness.campaign.engines import Engine
from harness.campaign.engines.here import Here
from harness.campaign.engines.local import Local
from harness.campaign.journal import Plan
from harness.campaign.reduced import Reduced
from harness.checks.judge import names
from tests import mutants

EXAMPLES = 5_000
SEED = 7


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
        if not self.examples:
            return f"{self.name:36} {'-':>6} {'':11} {self.seconds:7.1f} s  not found"
        size = f"{self.turns} t, {self.faults} f"
        found = f"{self.name:36} {self.examples:6} {size:11} {self.seconds:7.1f} s  {self.code}"
        return f"{found}  own" if self.own else found


def row(name: str, examples: int = EXAMPLES, seed: int = SEED) -> Row:
    """Look for one mutant, until the first finding."""
    began_s = time.monotonic()
    plan = Plan(target=f"tests.mutants.{name}:agent?client=plain", seed=seed)
    own = partial(_is_own, importlib.import_module(f"tests.mutants.{name}").MUTANT)
    found = _first(Campaign(plan, names()), examples, own)
    seconds = time.monotonic() - began_s
    if found is None:
        return Row(name, 0, 0, 0, seconds, "")
    size = found.turns, found.faults
    return Row(name, found.example, *size, seconds, found.code, own(found.code))


def _is_own(mutant: mutants.Mutant, code: str) -> bool:
    """Whether a finding is the one that was made for a mutant, which may name a whole check."""
    return code == mutant.killed_by or code.partition(".")[0] == mutant.killed_by


def _first(campaign: Campaign, examples: int, own: Callable[[str], bool]) -> Reduced | None:
    while (task := campaign.task(examples)) is not None:
        result = chunks.work(task)
        if isinstance(result, Tried):
            result = msgspec.structs.replace(result, doubts=())
        campaign.take(result)
        campaign.findings.waiting.sort(key=lambda found: not own(found.code))
        if isinstance(result, Reduced) and campaign.is_new(result):
            return result
    return None


def rows(chosen: Sequence[str], examples: int, workers: int = 1) -> Iterator[Row]:
    """The rows of these mutants, of all without any, in the order of their names."""
    known = [name for name, _, _ in mutants.every() if not chosen or name in chosen]
    left = iter(known)
    engine: Engine = Local(workers) if workers > 1 else Here()
    work = partial(row, examples=examples)
    yield from engine.each(work, lambda: next(left, None), window=len(known), lost=_lost)


def _lost(name: str) -> Row:
    return Row(name, 0, 0, 0, 0.0, "")


def summary(table: Sequence[Row]) -> str:
    """How many were found, and how small they are in the middle."""
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
    """Print the table as it grows."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.mutant_table")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    table = []
    for line in rows(asked.names, asked.examples, asked.workers):
        print(line, flush=True)
        table.append(line)
    print(summary(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
