"""Which call of the model a tool call belongs to, where the agent cannot say.

Protocols such as MCP carry a tool's name and arguments, not the model's id. The call that is meant
is the first one of the session's last answer, of that name and with these arguments, whose id has
not crossed the tool seam yet; failing that, the first of that name.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.events import Answered
from harness.core.history import History
from harness.core.messages import Json, ToolUse


def meant_call(history: History, session: str, name: str, input: Json) -> str:
    """The id of the model's call; a new one, `call_N`, where the model asked for none of it."""
    past = history.past
    waiting = [
        use
        for use in _last_uses(history, session or past.working_session)
        if use.name == name and use.id not in past.crossed
    ]
    same = [use for use in waiting if use.input == input]
    found = same or waiting
    return found[0].id if found else f"call_{past.calls['tool'] + 1}"


def _last_uses(history: History, session: str) -> Iterator[ToolUse]:
    for event in reversed(history.events):
        if isinstance(event, Answered) and event.seam == "model" and event.session == session:
            if not event.blocks:
                continue
            yield from history.messages[event.blocks].tool_uses
            return
