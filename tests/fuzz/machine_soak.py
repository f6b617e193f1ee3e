"""A million steps of the session machine: `python -m tests.fuzz.machine_soak`.

Prints the seed, the steps, the rate, and what was found; the exit status is 1 if anything was. An
example may end early, so examples are played until there were that many steps. One process plays
one seed; give each core its own (`--seed 1`, `--seed 2`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from harness.fuzz.machines.session_machine import SessionMachine, session_machine
from harness.stores.session_store import no_commit_hook
from harness.stores.sqlite import SqliteStore
from tests.fuzz.plain_model import agent

STEPS_AN_EXAMPLE = 50

TOLD_EVERY_S = 10.0

EXAMPLES_A_BATCH = 1_000
"""Hypothesis remembers all that it has tried, so a long run is made of many, each with its seed."""


class KeptOpen(SqliteStore):
    """A file that stays open from life to life, like the connections of a pool."""

    def close(self) -> None:
        """Nothing yet."""


class Opener:
    """Opens one store for a folder, and lets go of the one before."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._store: KeptOpen | None = None

    def __call__(self, options: Mapping[str, Any], folder: Path) -> SqliteStore:
        """The store of the folder."""
        if self._store is None or folder != self._folder:
            if self._store is not None:
                SqliteStore.close(self._store)
            self._folder = folder
            self._store = KeptOpen(folder / "session.db", synchronous="OFF")
        self._store.at_commit = no_commit_hook
        return self._store


class Counted:
    """How many steps were taken, and when to say so."""

    def __init__(self) -> None:
        self.steps, self.began = 0, time.perf_counter()
        self._told = self.began

    def step(self) -> None:
        """One more; the time decides when to tell, for a step may take long."""
        self.steps += 1
        if time.perf_counter() - self._told > TOLD_EVERY_S:
            self.say()

    def say(self) -> None:
        """How far it is."""
        self._told = time.perf_counter()
        rate = self.steps / (self._told - self.began)
        print(f"{self.steps} steps, {rate:.0f} a second", flush=True)


def machine(counted: Counted) -> type[SessionMachine]:
    """The machine of the reference agent on the plain wire, its steps counted."""

    class Long(session_machine(agent, opener=Opener())):  # type: ignore[misc]
        counter: ClassVar[Counted] = counted

        def check_invariants(self, *arguments: Any, **settings: Any) -> None:
            """Hypothesis calls this after each step."""
            self.counter.step()
            super().check_invariants(*arguments, **settings)

    return Long


def batch(counted: Counted, examples: int, number: int) -> str:
    """Play a number of examples of one seed; what was found, "" if nothing was."""
    play = settings(
        max_examples=examples,
        stateful_step_count=STEPS_AN_EXAMPLE,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(seed(number)(machine(counted)), settings=play)
    except AssertionError as error:
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    return ""


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    counted, found, batches = Counted(), "", 0
    print(f"seed {given.seed}, {given.steps} steps wanted", flush=True)
    while not found and counted.steps < given.steps:
        examples = min(EXAMPLES_A_BATCH, -(-(given.steps - counted.steps) // STEPS_AN_EXAMPLE))
        found = batch(counted, examples, given.seed * 1_000_000 + batches)
        batches += 1
    counted.say()
    print((found and f"batch {batches}: {found}") or "no finding")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
