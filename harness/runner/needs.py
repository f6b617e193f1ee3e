"""Finds what a scenario needs: capabilities of the agent, and what a target and a world must do.

Supervised waits take real time, up to `limits.real_s`; longer ones need virtual time. A kill needs
a target that the harness can end. A store fault needs the harness's own store.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import UNSET

from harness import faults
from harness.core.history.capabilities import hides, past_of, said_in, touched
from harness.core.history.trace import Trace
from harness.core.scenario.scenario import CassetteScript, FaultSpec, Scenario, Turn
from harness.core.scenario.script import called, model_reply
from harness.core.transition.arming import CHILD, seam_of
from harness.core.transition.transition import Transition
from harness.core.values.messages import ToolSpec, ToolUse
from harness.core.values.profile import CAPABILITIES, Capability, Connections
from harness.core.values.verdict import NotApplicable, Verdict
from harness.core.values.visible_text import duration
from harness.providers import records
from harness.runner.session_seed import laid, scenario_path, seed_messages
from harness.targets import TargetSpec


def needs_of(scenario: Scenario) -> tuple[Capability, ...]:
    """Return the capabilities without which the scenario does not apply to an agent.

    Raises InputError for a session file that cannot be read.
    """
    found = {*scenario.needs, *_shown(scenario)}
    return tuple(name for name in CAPABILITIES if name in found)


def _shown(scenario: Scenario) -> Iterator[Capability]:
    """Yield the needs of the content."""
    if seed_messages(scenario):
        yield "session"
    if not laid(scenario) and faults_seam(scenario, "store") and not faults_seam(scenario, "file"):
        yield "store"
    if faults_seam(scenario, "outbox"):
        yield "outbox"
    if faults_seam(scenario, "approval"):
        yield "approvals"
    if any(spec.on == CHILD for spec in scenario.faults):
        yield "sub_agents"
    if any(item.kind != "message" for item in scenario.inbox) or _cancels(scenario):
        yield "cancel"
    if scenario.stream:
        yield "streaming"
    if kills(scenario):
        yield "restarts"
    if _compacts(scenario):
        yield "compaction"
    if _calls_tools(scenario):
        yield "tools"


def _owed(scenario: Scenario) -> Iterator[Turn]:
    script = () if isinstance(scenario.script, CassetteScript) else scenario.script
    return (turn for turn in script if turn.is_owed)


def _compacts(scenario: Scenario) -> bool:
    """Whether the agent must make a summary; an optional turn does not require one."""
    return any(turn.purpose == "compact" for turn in _owed(scenario)) or any(
        spec.on == "compact" and spec.must_fire for spec in scenario.faults
    )


def _calls_tools(scenario: Scenario) -> bool:
    """Whether the model must call a tool of the scenario."""
    return any(not scenario.tools.keys().isdisjoint(called(turn)) for turn in _owed(scenario))


def _names_ids(trace: Trace) -> bool | None:
    """Return whether the agent names messages by their ids; None where it said nothing.

    Behind an adapter it gets texts alone, and the adapter sends its replies.
    """
    if not trace.gets_ids:
        return False
    rows = (row for look in trace.stored for row in look.added)
    named = any(s.request.in_reply_to for s in trace.sendings) or any(row.inbound for row in rows)
    return named if trace.sendings else None


_RESTS = "needs tools: the scenario rests on what its own tools say"


def _unbound(run: Verdict, played: Transition) -> str:
    """Return why a run of an agent with its own tools says nothing of it; "" if it does.

    Nothing is asked of an agent that takes the scenario's tools. A check that the scenario asks
    for may need a failure of its tools, which no other tool gives.
    """
    scenario, trace = played.scenario, played.history.trace
    profile = scenario.profile
    if not (profile.tool_names or profile.safe_tools) or trace.takes_tools:
        return ""
    offered = [ToolSpec(name, "", schema) for name, schema in trace.offered.items()]
    for turn in _owed(scenario):
        said = [b for b in model_reply(turn, played.draws, "").blocks if isinstance(b, ToolUse)]
        for use in said:
            made = played.bound.met(use, offered, free=turn.unoffered)
            if use.name in scenario.tools and made is None:
                return "needs tools: a call meets no tool of the agent that takes its input"
            if use.name in scenario.tools and _is_told(scenario, use.name):
                return _RESTS
    unasked = {n.check for n in run.not_applicable if n.kind == "unasked"}
    is_vain = run.verdict == "unknown" and not unasked.isdisjoint(scenario.expect.must)
    return _RESTS if is_vain and "tools" in needs_of(scenario) else ""


def _is_told(scenario: Scenario, tool: str) -> bool:
    """Whether a scenario rests on the answers of a tool: other ones would ask another question."""
    script = scenario.tools[tool].script
    is_plain = len(script) < 2 and all(turn.ok is not UNSET and not turn.effect for turn in script)
    return not is_plain or faults_seam(scenario, "tool")


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
    seeded = seed_messages(scenario)
    used = touched(trace, seeded)
    if not trace.exchanges:
        is_deaf = _is_deaf(run, played) and not scenario.profile.wires
        return Connections(used=used, speaks=False if is_deaf else None)
    said, past = said_in(trace), past_of(trace, seeded)
    if any(finding.check == "target" for finding in run.findings):
        return Connections(used=used, speaks=True, said=said, past=past)
    needed = (n for n in needs_of(scenario) if scenario.profile.declares(n) is not True)
    own = () if "tools" in used else tuple(trace.offered)
    return Connections(
        needs=tuple(needed), used=used, speaks=True, offers=own, said=said, past=past,
        unbound=_unbound(run, played), names_ids=_names_ids(trace),
    )  # fmt: skip


UNSHOWN_SESSION = NotApplicable(
    "run", "needs its session: no request of this run holds a word of what was stored"
)
"""A run of an agent that loaded nothing, or left all of it out: one run cannot tell which."""


def of_its_session(verdict: Verdict, played: Transition) -> Verdict:
    """Return the verdict; a pass says nothing where the run's stored session was not loaded.

    An agent may load one session and leave out another, so each run shows its own.
    """
    trace, seeded = played.history.trace, seed_messages(played.scenario)
    if verdict.verdict != "pass" or not trace.exchanges or not hides(trace, seeded):
        return verdict
    return Verdict("not_applicable", not_applicable=(UNSHOWN_SESSION,))


def _is_deaf(run: Verdict, played: Transition) -> bool:
    """Whether the target was silent on this wire for no reason but that it speaks another one.

    A crash is a reason, unless the target had called the model at the path of another API.
    """
    if any(finding.check == "target" for finding in run.findings):
        others = [record for record in records() if record.name != played.scenario.wire]
        return any(other.is_spoken_at(path) for path in played.elsewhere for other in others)
    return any(finding.code == "run.nothing_intercepted" for finding in run.findings)


World = Literal["simulate", "supervise"]
"""Virtual time in this process, or real time."""

WORLDS: tuple[str, ...] = get_args(World)

_SILENT = frozenset({"tools.answer_lost", "gateway.confirmation_lost"})
"""Faults after which a client waits until its own limit, which may be hours, or none."""

_WAITS = ("wait_s", "for_s", "retry_after")


def unplayable(scenario: Scenario, target: TargetSpec, world: World) -> tuple[NotApplicable, ...]:
    """Return why this world cannot play the scenario with this target; () if it can."""
    slow = needs_virtual_time(scenario) if world == "supervise" else ""
    if slow:
        return (NotApplicable("run", f"needs virtual time: {slow}", kind="time", detail=slow),)
    if clash := _clash(scenario):
        return (NotApplicable("run", clash, kind="profile"),)
    lack = ""
    if kills(scenario) and target.kind == "http":
        lack = "needs a target that can be killed: the harness did not start the server"
    elif kills(scenario) and target.kind == "python" and not hasattr(os, "fork"):
        lack = "needs os.fork, to kill a Python target"
    elif target.kind != "python" and "store" in needs_of(scenario):
        lack = "needs brief.store: a program keeps its session in its own store"
    elif target.past:
        from harness.targets.known.past_session import unwritable  # costs 0.1 s, for few runs

        what = unwritable(target.past, seed_messages(scenario))
        lack = f"needs a session with {what}, which the program does not keep" if what else ""
    return (NotApplicable("run", lack, kind="target"),) if lack else ()


def _clash(scenario: Scenario) -> str:
    """Return the tools that the profile gives one name; "" for none."""
    named: dict[str, str] = {}
    for tool in scenario.tools:
        name = scenario.profile.agent_name(tool)
        if other := named.get(name):
            return f"the profile gives the tools {other} and {tool} the same name: {name}"
        named[name] = tool
    return ""


def needs_virtual_time(scenario: Scenario) -> str:
    """Return what of the scenario no real clock can do, as a wait longer than `limits.real_s`; ""
    without one."""
    most_s = scenario.limits.real_s
    if scenario.orders is not None:
        return "orders of events"
    return next((what for what, wait_s in _waits(scenario) if wait_s > most_s), "")


def _waits(scenario: Scenario) -> Iterator[tuple[str, float]]:
    """Yield each wait: its description and its seconds."""
    for item in scenario.inbox:
        if isinstance(item.when, dict) and "ms" in item.when:
            wait_s = item.when["ms"] / 1000
            yield f"inbox message at {duration(wait_s)}", wait_s
    for fault in scenario.faults:
        if faults.by_kind(fault.kind).virtual:
            yield f"fault {fault.kind} moves the clock", math.inf
        for name, wait_s in _of_fault(fault):
            yield f"fault {fault.kind} with {name} {duration(wait_s)}", wait_s
    yield from _of_cassette(scenario)
    for name, tool in scenario.tools.items():
        for said in tool.approval:
            yield f"the approval of {name} takes {duration(said.after_s)}", said.after_s
        for turn in tool.script:
            wait_s = math.inf if turn.hang is True else float(turn.hang)
            yield f"tool {name} hangs {duration(wait_s)}", wait_s


def _of_cassette(scenario: Scenario) -> Iterator[tuple[str, float]]:
    """Yield the durations of recorded responses, if the scenario plays recorded times."""
    from harness.cassettes.cassette_file import answer_durations

    script = scenario.script
    if isinstance(script, CassetteScript) and script.timing == "recorded":
        for number, wait_ms in answer_durations(scenario_path(scenario, script.cassette)):
            wait_s = wait_ms / 1000
            yield f"exchange #{number} of the cassette takes {duration(wait_s)}", wait_s


def _of_fault(spec: FaultSpec) -> Iterator[tuple[str, float]]:
    """Yield a fault's waits, defaults included; a wait without `wait_s` has no end."""
    if spec.kind in _SILENT:
        yield "no answer", math.inf
    for name, default in faults.by_kind(spec.kind).defaults.items():
        if name in _WAITS:
            value = spec.settings.get(name, default)
            yield name, _seconds(value, math.inf if name == "wait_s" else 0.0)


def _seconds(value: object, without: float) -> float:
    if value is None:
        return without
    try:
        return float(str(value))
    except ValueError:
        return 0.0
