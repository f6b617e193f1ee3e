"""The names that an agent has for the tools of a scenario.

A profile gives them. Without a profile, a tool from an MCP server is recognised by the end of its
name, `mcp__SERVER__NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.values.messages import ToolSpec
from harness.core.values.profile import NO_PROFILE, Profile

_MCP, _PARTS = "mcp__", "__"


class ToolNames:
    """The tools of a scenario by its names and by the agent's."""

    def __init__(self, tools: Iterable[str] = (), profile: Profile = NO_PROFILE) -> None:
        self._agents = {name: profile.agent_name(name) for name in tools}
        self._meant = {agent: name for name, agent in self._agents.items()}
        bound = [*profile.tool_names.values()]
        rest = [name for name in self._agents if name not in profile.tool_names]
        self._safe = {*profile.safe_tools}
        left = (tool for tool in profile.safe_tools if tool not in bound)
        self._stand_ins = dict(zip(rest, left, strict=False))
        self._meant.update((own, name) for name, own in self._stand_ins.items())
        self.own = {*bound, *self._safe}
        """The tools that the profile names, which may be the agent's own."""

    def meant_by(self, name: str) -> str:
        """The scenario's name of the tool that the agent calls `name`.

        If the profile gives a scenario's tool another name, a tool with the original name is the
        agent's own.
        """
        if name in self._meant:
            return self._meant[name]
        parts = name.split(_PARTS) if name.startswith(_MCP) else []
        ends = (_PARTS.join(parts[start:]) for start in range(2, len(parts)))
        if found := next((end for end in ends if end in self._agents), ""):
            return found
        return f"the agent's own {name}" if name in self._agents else name

    def offered_as(self, name: str, offered: Iterable[str]) -> str:
        """The agent's name of a tool of the scenario, from its profile or from the offered
        tools."""
        agent = self._agents.get(name, name)
        if agent != name or name not in self._agents:
            return agent
        known = [*offered]
        found = [o for o in known if o.startswith(_MCP) and self.meant_by(o) == name]
        if len(found) == 1:
            return found[0]
        stand_in = self._stand_ins.get(name, "")
        return stand_in if stand_in in known and name not in known else name

    def is_safe(self, own: str) -> bool:
        """Whether the user says that a tool of the agent may be called with any input."""
        return own in self._safe

    def of_the_scenario(self, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The offered tools that are the scenario's; all of them where none is."""
        found = tuple(tool for tool in offered if self.meant_by(tool.name) in self._agents)
        return found or offered
