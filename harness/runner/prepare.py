"""Makes a transition of a scenario, with its wire, script, faults, history and store.

Names are looked up before the target starts, so a wrong one is an error of the file.
"""

from __future__ import annotations

import importlib
import platform
import sys
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import metadata
from typing import Any

import msgspec

from harness import faults, providers
from harness.core.history.events import AnyEvent
from harness.core.history.history import History
from harness.core.scenario import inbox
from harness.core.scenario.scenario import CassetteScript, Scenario
from harness.core.scenario.script import TurnScript
from harness.core.transition import arming
from harness.core.transition.arming import ArmedFault
from harness.core.transition.ports import Provider, Script
from harness.core.transition.transition import Transition
from harness.core.values.calls import Seam
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError, MachineLacks
from harness.core.values.messages import parts
from harness.core.values.profile import NO_PROFILE
from harness.runner.disk_log import DiskLog
from harness.runner.session_seed import laid, scenario_path, seed_messages
from harness.runner.tool_offers import misfit
from harness.targets import End, TargetSpec
from harness.transports.sdk_clients import import_sdk, sdks

_OF_VALUES = {
    "tool": "tools.late, tools.raises and tools.answer_lost",
    "inbox": "http.status and http.overloaded",
    "outbox": "http.status and http.overloaded",
}
"""The faults for a seam without bytes, in place of the faults on bytes."""

_LIBRARIES = ("httpx2", "httpx")


def transition_for(
    scenario: Scenario,
    script: Script | None = None,
    *,
    sink: Callable[[AnyEvent], None] | None = None,
    probes: Sequence[ArmedFault] = (),
) -> Transition:
    """Return the transition of a run; `probes` are armed behind the faults of the scenario.

    Raises InputError for an unknown wire, dialect or fault, and a cassette that cannot be read.
    """
    wire = providers.by_name(scenario.wire)
    wire.reader(scenario.dialect, scenario.window_tokens)
    armed = [
        faults.arm(
            spec,
            f"{scenario.name}: faults[{i}]",
            wire=scenario.wire,
            refusals=providers.by_name(arming.spoken_on(spec, scenario.wire)).refusals(),
        )
        for i, spec in enumerate(scenario.faults)
        if spec not in laid(scenario)
    ]
    history = History(sink, DiskLog())
    script, stored = script or script_of(scenario), seed_messages(scenario)
    return Transition(
        scenario, wire, script, history, faults=(*armed, *probes), stored=stored, misfit=misfit,
        others=partial(_other_provider, script),
    )  # fmt: skip


def has_profile(scenario: Scenario) -> bool:
    """Whether the scenario has a profile of its agent."""
    return bool(scenario.profile != NO_PROFILE)


def under_profile(scenario: Scenario) -> Scenario:
    """Return the scenario as the agent of its profile plays it.

    Limits and settings of checks are numbers of the agent: those of the profile win. Purposes are
    added; those of the scenario win, because they are about its texts.
    """
    profile = scenario.profile
    own = scenario.checks
    names = sorted({*own, *profile.checks})
    checks = {name: {**own.get(name, {}), **profile.checks.get(name, {})} for name in names}
    added = {p: name for p, name in profile.purposes.items() if p not in scenario.purposes}
    named = msgspec.structs.asdict(profile.limits)
    limits = {name: limit for name, limit in named.items() if limit is not None}
    return msgspec.structs.replace(
        scenario,
        checks=checks if profile.checks else own,
        purposes={**scenario.purposes, **added},
        limits=msgspec.structs.replace(scenario.limits, **limits),
    )


def check_faults(scenario: Scenario, target: TargetSpec) -> None:
    """Raise InputError for a fault on bytes where the target has none.

    A Python target calls its tools, inbox and outbox with values, not bytes.
    """
    if target.kind != "python":
        return
    for i, spec in enumerate(scenario.faults):
        fault = faults.by_kind(spec.kind)
        seam = arming.seam_of(spec.on or fault.seams[0])
        if fault.stage == "bytes" and seam in _OF_VALUES:
            raise InputError(
                f"fault {spec.kind}: on {spec.on!r}: a Python target's {seam} is a plain call, "
                f"which has no bytes; use a fault on values: {_OF_VALUES[seam]}",
                f"{scenario.name}: faults[{i}]",
            )


def _other_provider(script: Script, path: str) -> Provider | None:
    """The provider at a path, if the script answers for it: turns do, calls for their own alone."""
    found = providers.at_path(path)
    recorded = () if getattr(script, "recorded", False) else None
    answered: Container[str] | None = getattr(script, "wires", recorded)
    return found if found is None or answered is None or found.name in answered else None


def script_of(scenario: Scenario) -> Script:
    """Return the script of the scenario's file."""
    if isinstance(scenario.script, CassetteScript):
        from harness.cassettes.cassette_player import cassette_script

        path = scenario_path(scenario, scenario.script.cassette)
        return cassette_script(path, scenario.wire, timed=scenario.script.timing == "recorded")
    draws, results = Draws(scenario.seed), scenario.profile.results
    return TurnScript(scenario.script, draws, scenario.policy, results)


def warm_up(scenario: Scenario, target: TargetSpec, *, forks: bool) -> None:
    """Import the modules of a Python target's first call, before its limits begin to count.

    The import of an SDK takes a second, and an agent may have its own client. So the SDK is
    imported only for an agent that already imports it, or before a fork, which saves each child the
    import.
    """
    if target.agent is None:
        return
    versions()  # it reads files of packages, and each child would read them
    if forks or providers.record(scenario.wire).sdk.package in sys.modules:
        import_sdk(scenario.wire)
    if target.agent.__module__ == "harness.agent":
        importlib.import_module("harness.agent.composition")


def import_all(names: Sequence[str]) -> None:
    """Import modules that a forked child has imported, so that the next child has them."""
    for name in names:
        with suppress(Exception):  # a module may be made by another one, and have no file
            importlib.import_module(name)


def start(
    transition: Transition,
    target: TargetSpec,
    world: str,
    attempt: int,
    store: bool,
    seams: tuple[Seam, ...] = (),
    downtime_ms: int = 0,
) -> None:
    """Record that the run begins, or begins again after `downtime_ms`.

    `seams` are the run's seams if they do not follow from the scenario."""
    scenario, transition.user_pauses = transition.scenario, world == "simulate"
    transition.history.started(
        run=scenario.run_name, scenario=scenario.name, variant=scenario.variant,
        wire=scenario.wire, stream=scenario.stream, seed=scenario.seed,
        target=target.text, world=world, attempt=attempt, downtime_ms=downtime_ms,
        door="transport" if world == "simulate" else "loopback",
        seams=seams or _seams(scenario, store), versions=dict(versions()),
        settings={**settings(scenario), **_session_settings(scenario, store)},
    )  # fmt: skip


def _session_settings(scenario: Scenario, store: bool) -> dict[str, Any]:
    """Return the settings for checks of the session: whether its own store is read, and how many
    rows the agent may have taken from the seed."""
    seeded = sum(map(parts, seed_messages(scenario)))
    own = {"own_store": True} if store else {}
    return {**own, **({"seeded": seeded} if seeded else {})}


def _seams(scenario: Scenario, store: bool) -> tuple[Seam, ...]:
    seams: list[Seam] = ["model", "inbox", "outbox"]
    if scenario.tools:
        seams.append("tool")
    if store:
        seams.append("store")
    return tuple(seams)


def settings(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario's settings for the checks, so that a history can be judged alone."""
    return {
        "checks": scenario.checks,
        "expect": msgspec.to_builtins(scenario.expect),
        "limits": msgspec.to_builtins(scenario.limits),
        "window_tokens": scenario.window_tokens,
        "tools": {name: tool.input_schema for name, tool in scenario.tools.items()},
        **({"gated": gated} if (gated := _gated(scenario)) else {}),
        **({"overlaid": True} if scenario.overlaid else {}),
        **({"orders": msgspec.to_builtins(scenario.orders)} if scenario.orders is not None else {}),
        **({"policy": scenario.policy} if scenario.policy != "strict" else {}),
        **({"profile": msgspec.to_builtins(scenario.profile)} if has_profile(scenario) else {}),
    }


def _gated(scenario: Scenario) -> list[str]:
    """Return the tools whose calls need the user's approval."""
    return [name for name, tool in scenario.tools.items() if tool.approval]


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return the versions of Python, the harness, and the installed client libraries."""
    found = [("python", platform.python_version())]
    packages = (sdk.package for sdk in sdks())
    for name in ("loop-harness", *packages, *_LIBRARIES):
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return tuple(found)


def end(
    transition: Transition, how: End, at_ms: int, lack: MachineLacks | None = None, **fields: Any
) -> None:
    """Record that the run is over, with the turns and faults that were due and did not occur.

    `lack` is what the machine lacked for the run, if anything. What the target ended of shows no
    lack where a fault of the store may have raised it.
    """
    if not transition.is_faulty("store"):
        lack = how.lack or lack
    if lack is not None:
        how = End("machine", None, str(lack))
    if transition.endless_pattern:
        how = End("unable", None, transition.endless_pattern)
    past = transition.history.past
    waiting = tuple(inbox.never_due(transition.inbox, past, at_ms))
    # Nor can an agent take what comes after the end of its inbox.
    came = not past.inbox_ended
    unplayed = [
        e for e in waiting if e.after is not None and not (came and past.is_answered(e.after))
    ]
    asked = () if transition.history.trace.exchanges else transition.elsewhere[-1:]
    stands = how.how == "hung" or fields.get("real_wait_ms")
    transition.history.ended(
        at_ms=at_ms, how=how.how, exit_code=how.exit_code, text=how.text,
        frames=how.frames, place=how.place, traceback=how.traceback,
        open_waits=how.open_waits if stands else (),
        unplayed=tuple(transition.script.unplayed(past)),
        silent_faults=tuple(f.spec.kind for f in transition.faults if f.silent),
        undelivered=tuple(entry.inbound.id for entry in waiting if entry not in unplayed),
        unplayed_messages=tuple(f"{e.inbound.id} (after {e.after})" for e in unplayed),
        polled=transition.polled,
        tools_untaken=bool(transition.scenario.tools) and not transition.tools_taken,
        elsewhere="".join(asked)[:200], **fields,
    )  # fmt: skip
