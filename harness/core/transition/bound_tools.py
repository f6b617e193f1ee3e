"""Whose tool a scripted call meets: the scenario's, or one of the agent's own in its place.

A model calls only what a request offers. Where an agent offers its own tools, a call meets the tool
that the profile names, if the input of the script fits its schema. A tool that the profile calls
safe takes drawn inputs too. Any other tool may act, so it gets no invented input: the call is not
made.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.core.transition.inline_faults import Misfit
from harness.core.values.calls import Call
from harness.core.values.draws import Draws, Generator
from harness.core.values.messages import Block, Json, Opaque, ToolSpec, ToolUse, canonical
from harness.core.values.plans import Reply
from harness.core.values.tool_names import ToolNames

SERVER_CALL = "server_tool_use"
"""A block for a call of the provider's own tool."""

_DRAWS_MOST = 8
"""How often an input is drawn until one fits a schema: a `pattern` is not read."""


class BoundTools:
    """The calls of one scenario in the words of one agent."""

    def __init__(self, scenario: Scenario, misfit: Misfit) -> None:
        self._tools, self._draws, self._misfit = scenario.tools, Draws(scenario.seed), misfit
        self.names = ToolNames(scenario.tools, scenario.profile)
        self._is_told = scenario.profile.results == "text"

    def reply(self, said: Reply, call: Call, offered: Sequence[ToolSpec]) -> Reply | None:
        """The reply of a script in the agent's words; None where no model makes its calls.

        An unoffered call too answers an offer of tools: without one, the agent asks for a title.
        Tools that are told in a text are not seen, so they may be called.
        """
        is_asked = bool(offered) or call.purpose != "main"
        free = self._is_told or (said.unoffered and is_asked)
        made = [self._block(block, offered, free=free) for block in said.blocks]
        blocks = tuple(block for block in made if block is not None)
        return msgspec.structs.replace(said, blocks=blocks) if len(blocks) == len(made) else None

    def _block(self, block: Block, offered: Sequence[ToolSpec], *, free: bool) -> Block | None:
        if isinstance(block, ToolUse):
            return self.met(block, offered, free=free)
        if isinstance(block, Opaque) and block.kind == SERVER_CALL and not free:
            return block if block.value.get("name") in {tool.name for tool in offered} else None
        return block

    def met(
        self, use: ToolUse, offered: Sequence[ToolSpec], *, free: bool = False
    ) -> ToolUse | None:
        """The call of the offered tool that a call of the scenario meets; None without one."""
        name = self.names.offered_as(use.name, [tool.name for tool in offered])
        tool = next((tool for tool in offered if tool.name == name), None)
        if tool is None or not self.is_own(use.name, tool):
            named = msgspec.structs.replace(use, name=name)
            return named if tool is not None or free else None
        if free:  # a tool that may act gets no wrong input
            return None
        if self._fits(named := msgspec.structs.replace(use, name=name), tool):
            return named
        return self._drawn(named, tool) if self.names.is_safe(name) else None

    def is_own(self, name: str, tool: ToolSpec) -> bool:
        """Whether the profile names this tool for the scenario's, and it takes other inputs."""
        script = self._tools.get(name)
        known = script.input_schema.get("properties") or {} if script else {}
        return tool.name in self.names.own and keys_of(tool) != known.keys()

    def _fits(self, use: ToolUse, tool: ToolSpec) -> bool:
        given = use.input.keys() if isinstance(use.input, dict) else ()
        return keys_of(tool) >= {*given} and not self._misfit(use, [tool])

    def _drawn(self, use: ToolUse, tool: ToolSpec) -> ToolUse | None:
        """The call with an input for the tool's schema. Equal inputs of the script draw equal ones,
        because a model that repeats itself is what some scenarios are about."""
        for number in range(_DRAWS_MOST):
            draw = self._draws.random("bound", use.name, canonical(use.input), str(number))
            made = msgspec.structs.replace(use, input=drawn(tool.input_schema, draw))
            if not self._misfit(made, [tool]):
                return made
        return None


def keys_of(tool: ToolSpec) -> frozenset[str]:
    """The keys that an input of a tool may have."""
    properties = tool.input_schema.get("properties")
    return frozenset(properties if isinstance(properties, dict) else ())


_WORDS = ("harbour", "Oslo", "spring", "boat", "fortress", "island", "hotel", "ticket")


def drawn(schema: Json, draw: Generator) -> Json:
    """A value for a JSON Schema: its required keys, and any word for a text."""
    if not isinstance(schema, dict):
        return draw.choice(_WORDS)
    if "const" in schema or schema.get("enum"):
        return schema["const"] if "const" in schema else draw.choice(schema["enum"])
    for choices in (schema.get("anyOf"), schema.get("oneOf")):
        if choices:
            return drawn(draw.choice(choices), draw)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = str(kind[0] if isinstance(kind, (list, tuple)) else kind).lower()
    if kind == "object":
        return _object(schema, draw)
    if kind == "array":
        most = max(1, int(schema.get("minItems", 1)))
        return [drawn(schema.get("items"), draw) for _ in range(most)]
    least = schema.get("minimum", 1)
    number = draw.randint(int(least), int(schema.get("maximum", least + 999)))
    plain = {"integer": number, "number": float(number), "boolean": draw.random() < 0.5}
    return None if kind == "null" else plain.get(kind, f"{draw.choice(_WORDS)} {number}")


def _object(schema: dict[str, Json], draw: Generator) -> Json:
    properties = schema.get("properties") or {}
    wanted = schema.get("required") or list(properties)[:1]
    return {name: drawn(properties.get(name), draw) for name in wanted}
