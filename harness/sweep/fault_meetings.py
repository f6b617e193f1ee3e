"""Which fault can meet which call of a scenario: found by runs with a probe for each fault.

A probe only looks: at which calls its fault would change the answer, and to which plan. Two faults
that come to one plan at one call are one fault there. A probe strikes nowhere, so all of them see
the calls of the same run. Where the agent is killed by a fault of the scenario itself, its lives
are processes, so the probes tell by a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from harness import faults, providers
from harness.core.history.past import Past
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.transition.arming import ArmedFault, seam_of
from harness.core.values.calls import Call
from harness.core.values.draws import Draws
from harness.core.values.plans import Plan
from harness.files.owner import scratch_folder
from harness.fuzz.fault_grammar import places, variations
from harness.redaction.encoder import encoded, own_line
from harness.runner import Run, run
from harness.runner.needs import World, unplayable
from harness.targets import TargetSpec

Told = Callable[[Call, int, Plan], None]
"""Takes a call, its number among the calls that the fault counts, and the plan after the fault."""


class FaultProbe(ArmedFault):
    """An armed fault that tells what it would change, and changes nothing."""

    def __init__(self, told: Told, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._told = told

    def is_due(self, call: Call, past: Past, draws: Draws) -> bool:
        """Whether the fault counts this call."""
        return bool(self.ordinal(call, past))

    def bend(self, call: Call, past: Past, draws: Draws, plan: Plan) -> Plan:
        """The unchanged plan, after telling the changed one."""
        if number := self.ordinal(call, past):
            bent = self.bent(call, past, draws, plan)
            if bent != plan:
                self._told(call, number, bent)
        return plan


class Meeting(msgspec.Struct, frozen=True):
    """A fault, the number of its variant among all probes, that would change the answer to a call.

    `number` is that of the call among those that the fault counts. Two faults whose `plan` is equal
    at one call give the agent the same answer.
    """

    variant: int
    call: str
    seam: str
    number: int
    plan: str


def variants(kinds: Iterable[str], scenario: Scenario, target: TargetSpec) -> tuple[FaultSpec, ...]:
    """Every setting of each of these faults, at each of its places; `when` is open.

    A fault that the target cannot be played with is left out: one for a program that needs virtual
    time.
    """
    world: World = "simulate" if target.kind == "python" else "supervise"
    bare = Scenario(name=scenario.name, limits=scenario.limits)
    return tuple(
        spec
        for kind in kinds
        for place in dict.fromkeys(places(faults.by_kind(kind)))
        for settings in variations(kind)
        if (spec := FaultSpec(kind=kind, on=place, must_fire=False, settings=settings))
        and not unplayable(msgspec.structs.replace(bare, faults=(spec,)), target, world)
    )


def meetings(
    scenario: Scenario, target: TargetSpec, specs: Sequence[FaultSpec], *, store: str = ""
) -> tuple[list[Run], list[Meeting]]:
    """Play the scenario with a probe for each spec; return the runs and what each would change.

    A store is opened in another way where a fault may strike at it, and again where files are
    watched. So the store and the files have runs apart, as their cases are.
    """
    runs, found = [], list[Meeting]()
    for apart in ("", *APART):
        group = [n for n, spec in enumerate(specs) if _apart(spec) == apart]
        if group:
            played, met = _met(scenario, target, specs, group, store)
            runs.append(played)
            found += met
    return runs, list({(one.variant, one.call): one for one in found}.values())


APART = ("store", "file")
"""The seams that a run has only for its faults."""


def _apart(spec: FaultSpec) -> str:
    seam = seam_of(spec.on)
    return seam if seam in APART else ""


def _met(
    scenario: Scenario,
    target: TargetSpec,
    specs: Sequence[FaultSpec],
    group: Sequence[int],
    store: str,
) -> tuple[Run, list[Meeting]]:
    with scratch_folder() as folder:
        file = folder / "meetings.jsonl"
        file.touch()
        probes = list(_probes(scenario, specs, group, file))
        isolate = target.isolate or target.may_keep_state
        played = run(scenario, target, store=store, isolate=isolate, capture="fd", probes=probes)
        lines = file.read_bytes().splitlines()
    return played, [msgspec.json.decode(line, type=Meeting) for line in lines]


def _probes(
    scenario: Scenario, specs: Sequence[FaultSpec], group: Sequence[int], file: Path
) -> Iterator[ArmedFault]:
    refusals = providers.by_name(scenario.wire).refusals()
    for variant in group:
        form = partial(FaultProbe, partial(_tell, file, variant))
        yield faults.arm(specs[variant], wire=scenario.wire, refusals=refusals, form=form)


def _tell(file: Path, variant: int, call: Call, number: int, plan: Plan) -> None:
    """Append a meeting; the file is opened each time, because the target may close open files."""
    # The text of a plan is that of its values, and a message of several megabytes is in it once.
    digest = blake2b(repr(plan).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    line = encoded(
        own_line(msgspec.to_builtins(Meeting(variant, call.key, call.seam, number, digest)))
    )
    opened = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(opened, line + b"\n")
    finally:
        os.close(opened)
