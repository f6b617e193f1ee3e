"""The probes: short scenarios, each of which asks an agent for one thing, and what they show.

They stand as files in `probes/`. A probe without tools of its own has those of `greeting`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from harness.core.history.exchanges import Exchange
from harness.core.history.trace import Trace
from harness.core.scenario.scenario import Scenario
from harness.core.scenario.scenario import Turn as ScriptTurn
from harness.core.values.messages import Json
from harness.core.values.profile import Capability, Profile
from harness.core.values.verdict import Finding, Verdict
from harness.files import load_scenarios

FOLDER = Path(__file__).parent / "probes"

GREETING = "greeting"
"""The probe that is played on each wire."""


class Ending(msgspec.Struct, frozen=True):
    """The call of a tool that ends a turn of the agent, in place of words."""

    tool: str
    input: Json


class Probe(msgspec.Struct, frozen=True):
    """A probe as it was played: what the agent did, and what the judge says of it."""

    scenario: Scenario
    trace: Trace
    verdict: Verdict
    touched: frozenset[Capability] = frozenset()

    @property
    def name(self) -> str:
        """The name of its scenario."""
        return self.scenario.name

    @property
    def requests(self) -> list[Exchange]:
        """The model requests that can be read, for any purpose."""
        return [e for e in self.trace.exchanges if not e.request.unread]

    @property
    def main(self) -> list[Exchange]:
        """The readable requests that are for the conversation itself."""
        return [e for e in self.requests if e.called.purpose == "main"]

    @property
    def endings(self) -> list[str]:
        """The finals and errors that reached the user."""
        return [s.request.text for s in self.trace.sendings if s.ends_turn]

    @property
    def broken(self) -> Finding | None:
        """The finding of a target that crashed, hung or passed a limit of real time."""
        return next((f for f in self.verdict.findings if f.check == "target"), None)

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames of the user's code in a crash, the innermost last."""
        return self.trace.ended.frames if self.trace.ended else ()

    def findings_of(self, *checks: str) -> list[Finding]:
        """The findings of these checks."""
        return [finding for finding in self.verdict.findings if finding.check in checks]


@cache
def _files() -> dict[str, Scenario]:
    loaded = (load_scenarios(path)[0] for path in sorted(FOLDER.glob("*.yaml")))
    found = {scenario.name: scenario for scenario in loaded}
    tools = found[GREETING].tools
    return {
        name: msgspec.structs.replace(scenario, tools=scenario.tools or tools, folder="")
        for name, scenario in found.items()
    }


def scenario_of(
    name: str, profile: Profile, *, wire: str, stream: bool = False, ending: Ending | None = None
) -> Scenario:
    """The scenario of a probe for this agent."""
    scenario = _files()[name]
    return msgspec.structs.replace(
        scenario,
        wire=wire,
        stream=stream,
        profile=profile,
        script=tuple(_ended(scenario, ending)),
    )


def offering(scenario: Scenario, missing: Collection[str]) -> Scenario:
    """A probe whose calls of tools that the agent does not offer are calls of one that it does."""
    others = [name for name in scenario.tools if name not in missing]
    if not missing or not others or not isinstance(scenario.script, tuple):
        return scenario
    tool = others[0]
    call = {"name": tool, "input": example(scenario.tools[tool].input_schema)}
    script = tuple(
        msgspec.structs.replace(
            turn,
            blocks=tuple({**b, **call} if b.get("name") in missing else b for b in turn.blocks),
        )
        for turn in scenario.script
    )
    return msgspec.structs.replace(scenario, script=script)


def call_of(tool: str, schema: dict[str, Json], profile: Profile, wire: str) -> Scenario:
    """The greeting whose first answer calls a tool of the agent's own."""
    scenario = scenario_of(GREETING, profile, wire=wire)
    call = ScriptTurn(use=tool, input=example(schema))
    words = ScriptTurn(say="It is mild in Oslo.")
    return msgspec.structs.replace(scenario, name=f"tool-{_kebab(tool)}", script=(call, words))


def _kebab(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name.casefold()).strip("-") or "unnamed"


def _ended(scenario: Scenario, ending: Ending | None) -> Iterator[ScriptTurn]:
    """Yield the turns of the script; where words do not end a turn, the tool's call does."""
    assert isinstance(scenario.script, tuple)
    for turn in scenario.script:
        ends = ending is not None and turn.say is not None and turn.purpose == "main"
        if ends and ending:
            yield ScriptTurn(use=ending.tool, input=ending.input)
        else:
            yield turn


def example(schema: dict[str, Json]) -> Json:
    """A value that a JSON Schema allows, for the required keys and those without a default."""
    if "const" in schema or schema.get("enum"):
        return schema.get("const", (schema.get("enum") or [None])[0])
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        return example(choice)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, (list, tuple)) else kind
    if kind == "object":
        properties = schema.get("properties") or {}
        wanted = schema.get("required") or list(properties)
        return {name: example(properties.get(name) or {}) for name in wanted}
    plain: dict[str, Json] = {"integer": 1, "number": 1.0, "boolean": True, "array": []}
    return plain.get(kind, None if kind == "null" else "It is mild in Oslo.")


State: TypeAlias = Literal["seen", "not seen", "not reached"]
Part: TypeAlias = Literal["connections", "behaviour"]

PROFILES, TARGETS, SCENARIO = "docs/profiles.md", "docs/targets.md", "docs/scenario.md"

SEPARATE_RUNS = "separate runs"
"""The item that says whether a session outlasts its run. Every verdict rests on it."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One line of what the doctor saw: what was seen of one item.

    `not reached`: no probe could ask for it. `why` is the reason by itself, where `what` gives one.
    `see` says where the docs tell how to connect it; `findings` are what the judge finds in that
    probe, as `CODE (CLASS)`.
    """

    part: Part
    item: str
    state: State
    what: str
    why: str = ""
    see: str = ""
    findings: tuple[str, ...] = ()


def connection(item: str, state: State, what: str, see: str = "", why: str = "") -> Observation:
    """An observation of a connection; what is seen needs no advice."""
    return Observation(
        part="connections", item=item, state=state, what=f"{what}: {why}" if why else what, why=why,
        see="" if state == "seen" else see,
    )  # fmt: skip
