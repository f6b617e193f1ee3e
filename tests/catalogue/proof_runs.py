"""On which APIs the run of an incident's proof plays, and which programs can play it.

The programs are those that are known by name. A program plays on its own API, in real time, and
lacks what its profile declares absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec

from harness.cli.agent_runs import for_profile
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.runner.needs import absent, needs_of, unplayable
from harness.runner.prepare import under_profile
from harness.targets import TargetSpec
from harness.targets.known import Known, known
from tests.scenarios.all_runs import all_runs, named


@cache
def wires_of(run: str) -> tuple[str, ...]:
    """The APIs on which the variant of a run plays."""
    return tuple(dict.fromkeys(scenario.wire for scenario in _variant(run)))


@cache
def programs_of(run: str) -> tuple[str, ...]:
    """The programs that can play the variant of a run."""
    return tuple(name for name, program in known().items() if _is_played(run, program))


@cache
def lacks_of(run: str) -> tuple[str, ...]:
    """What the variant needs and no program has; () where the time or the API is the reason."""
    has = [program.profile.declares for program in known().values()]
    needed = needs_of(named(run))
    return tuple(need for need in needed if all(declares(need) is False for declares in has))


def _variant(run: str) -> Iterator[Scenario]:
    one = named(run)
    return (s for s in all_runs() if (s.name, s.variant) == (one.name, one.variant))


def _is_played(run: str, program: Known) -> bool:
    planned = [("", scenario) for scenario in _variant(run)]
    try:
        found = for_profile(planned, (), program.profile)
    except InputError:  # none on the program's API
        return False
    target = TargetSpec("process:program", "process", past=program.past.form)
    runs = (msgspec.structs.replace(scenario, profile=program.profile) for _, scenario in found)
    played = map(under_profile, runs)
    return any(not absent(one) and not unplayable(one, target, "supervise") for one in played)
