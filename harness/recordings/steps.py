"""Steps: an action and what was observed after it, as trajectories of agents keep them.

A trajectory pairs the two by their place and has no ids, so each call gets the id of its step and
its observation answers just that call. An action that is a command line is called by its program,
and the whole line is its input: an empty one is a call with empty input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from harness.core.values.messages import Json, Message, Text, ToolResult, ToolUse

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step; `observation` is None where none was recorded, `failed` what an explicit flag
    says of it."""

    id: str
    name: str
    input: Json
    thought: str = ""
    observation: str | None = None
    failed: bool = False

    def messages(self) -> Iterator[Message]:
        """The message with the call, and the one with its result."""
        said = (Text(self.thought),) if self.thought.strip() else ()
        yield Message("assistant", (*said, ToolUse(self.id, self.name, self.input)))
        if self.observation is not None:
            yield Message("tool", (ToolResult(self.id, self.observation, self.failed),))


def command_name(line: str) -> str:
    """The program that a command line calls, as a tool can be named; `action` where it has none."""
    words = line.split(maxsplit=1)
    program = words[0].rpartition("/")[2] if words else ""
    return _NO_NAME.sub("_", program)[:64].strip("_") or "action"
