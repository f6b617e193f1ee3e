"""Finds the capabilities that a scenario needs of an agent, shown or declared."""

from __future__ import annotations

from collections.abc import Iterator

from harness import faults
from harness.core.history.capabilities import touched, words_of
from harness.core.scenario.scenario import CassetteScript, Scenario
from harness.core.transition.arming import seam_of
from harness.core.transition.transition import Transition
from harness.core.values.profile import CAPABILITIES, Capability, Connections
from harness.core.values.verdict import NotApplicable, Verdict
from harness.providers import records
from harness.runner.session_seed import seed_messages


def needs_of(scenario: Scenario) -> tuple[Capability, ...]:
    """Return the capabilities without which the scenario does not apply to an agent.

    Raises InputError for a session file that cannot be read.
    """
    found = {*scenario.needs, *_shown(scenario)}
    return tuple(name for name in CAPABILITIES if name in found)


def _shown(scenario: Scenario) -> Iterator[Capability]:
    """Yield the needs of the content. A session without a text cannot be seen in a request."""
    if words_of(seed_messages(scenario)):
        yield "session"
    if faults_seam(scenario, "store"):
        yield "store"
    if faults_seam(scenario, "outbox"):
        yield "outbox"
    if any(item.kind != "message" for item in scenario.inbox) or _cancels(scenario):
        yield "cancel"
    if scenario.stream:
        yield "streaming"
    if kills(scenario):
        yield "restarts"
    if _compacts(scenario):
        yield "compaction"


def _compacts(scenario: Scenario) -> bool:
    """Whether the agent must make a summary; an optional turn does not require one."""
    script = () if isinstance(scenario.script, CassetteScript) else scenario.script
    return any(
        turn.purpose == "compact" and not turn.optional and turn.when is None for turn in script
    ) or any(spec.on == "compact" and spec.must_fire for spec in scenario.faults)


def _cancels(scenario: Scenario) -> bool:
    """Whether a fault cancels a running turn, which only an agent that asks for cancels sees."""
    return any(spec.kind == "gateway.cancelled" for spec in scenario.faults)


def kills(scenario: Scenario) -> bool:
    """Whether a fault of the scenario may end the target."""
    return any(faults.by_kind(spec.kind).kills for spec in scenario.faults)


def faults_seam(scenario: Scenario, seam: str) -> bool:
    """Whether a fault of the scenario is armed on a seam."""
    armed = (spec.on or faults.by_kind(spec.kind).on for spec in scenario.faults)
    return any(seam_of(on) == seam for on in armed)


def absent(scenario: Scenario) -> tuple[NotApplicable, ...]:
    """Return why the profile's agent cannot play the scenario: capabilities declared absent."""
    profile = scenario.profile
    if profile.wires and scenario.wire not in profile.wires:
        spoken = " and ".join(profile.wires)
        told = f"the profile says that the agent speaks {spoken}"
        return (NotApplicable("run", told, kind="profile"),)
    denied = {name for name in CAPABILITIES if profile.declares(name) is False}
    lacks = [name for name in needs_of(scenario) if name in denied] if denied else []
    return tuple(
        NotApplicable("run", f"needs {name}, which the profile declares absent", name, "declared")
        for name in lacks
    )


def connections(run: Verdict, played: Transition) -> Connections:
    """Return the capabilities that a run needs and uses, for the ledger of what an agent lacks.

    The run of a target that crashed, hung or called no model needs nothing. A capability that the
    profile declares present is not among the needs: the agent may not excuse itself by its lack.
    """
    scenario, trace = played.scenario, played.history.trace
    used = touched(trace, seed_messages(scenario))
    if not trace.exchanges:
        is_deaf = _is_deaf(run, played) and not scenario.profile.wires
        return Connections(used=used, speaks=False if is_deaf else None)
    if any(finding.check == "target" for finding in run.findings):
        return Connections(used=used, speaks=True)
    needed = (n for n in needs_of(scenario) if scenario.profile.declares(n) is not True)
    return Connections(needs=tuple(needed), used=used, speaks=True)


def _is_deaf(run: Verdict, played: Transition) -> bool:
    """Whether the target was silent on this wire for no reason but that it speaks another one.

    A crash is a reason, unless the target had called the model at the path of another API.
    """
    if any(finding.check == "target" for finding in run.findings):
        others = [record for record in records() if record.name != played.scenario.wire]
        return any(other.is_spoken_at(path) for path in played.elsewhere for other in others)
    return any(finding.code == "run.nothing_intercepted" for finding in run.findings)
