"""The names that an agent has for the tools of a scenario.

A profile gives them. Without a profile, a tool from an MCP server is recognised by the end of its
name, `mcp__SERVER__NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.core.values.messages import ToolSpec, ToolUse
from harness.core.values.plans import Reply
from harness.core.values.profile import NO_PROFILE, Profile

_MCP, _PARTS = "mcp__", "__"


class ToolNames:
    """The tools of a scenario by its names and by the agent's."""

    def __init__(self, tools: Iterable[str] = (), profile: Profile = NO_PROFILE) -> None:
        self._agents = {name: profile.agent_name(name) for name in tools}
        self._meant = {agent: name for name, agent in self._agents.items()}

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
        found = [o for o in offered if o.startswith(_MCP) and self.meant_by(o) == name]
        return found[0] if len(found) == 1 else name

    def of_the_scenario(self, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The offered tools that are the scenario's; all of them where none is."""
        found = tuple(tool for tool in offered if self.meant_by(tool.name) in self._agents)
        return found or offered

    def in_agents_words(self, reply: Reply, offered: Iterable[str]) -> Reply:
        """A reply of the script with the agent's names in its calls."""
        if not self._agents or not any(isinstance(block, ToolUse) for block in reply.blocks):
            return reply
        names = tuple(offered)
        blocks = tuple(
            msgspec.structs.replace(block, name=self.offered_as(block.name, names))
            if isinstance(block, ToolUse)
            else block
            for block in reply.blocks
        )
        return reply if blocks == reply.blocks else msgspec.structs.replace(reply, blocks=blocks)
