"""Histories of several sessions on one clock, told event by event.

Where a `Story` is one honest agent, this is any sequence of calls at the seams: who calls, what it
costs, how long the answer takes, and who made whom.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.core.history.history import History
from harness.core.values.calls import (
    Inbound,
    InboxRequest,
    ModelRequest,
    OutboxRequest,
    ToolRequest,
)
from harness.core.values.messages import user
from harness.core.values.plans import StepRecord, ToolAnswer
from tests.checks.chronicle import Timeline
from tests.checks.histories import RARE


class Sessions(Timeline):
    """A history in the making; every verb returns it."""

    def __init__(self, world: str = "simulate") -> None:
        super().__init__()
        seams = ("model", "tool", "inbox", "outbox")
        self.history.started(run="sessions", scenario="sessions", world=world, seams=seams)

    def wait(self, seconds: float) -> Sessions:
        """Time passes."""
        self.at_ms += round(seconds * 1000)
        return self

    def take(
        self, session: str = "main", steps: tuple[StepRecord, ...] = (), name: str = ""
    ) -> Sessions:
        """The agent asks for a message and gets one; it asks for the session, to keep it simple."""
        key, where = self._key("inbox", session), self._where(session)
        self.history.called(**where, key=key, seam="inbox", request=InboxRequest())
        value = msgspec.to_builtins(Inbound(name or f"{session}{self.last}", session, "go"))
        where["turn"] += 1
        self.history.answered(**where, key=key, seam="inbox", value=value, steps=steps)
        return self

    def cancel(self, session: str = "main") -> Sessions:
        """The user cancels the session's turn, and the agent sees it."""
        key, where = self._key("inbox", session), self._where(session)
        self.history.called(**where, key=key, seam="inbox", request=InboxRequest(poll=True))
        value = msgspec.to_builtins(Inbound("c1", session, kind="cancel"))
        self.history.answered(**where, key=key, seam="inbox", value=value)
        return self

    def model(
        self, session: str = "main", *, parent: str = "", tokens: int = 0, said: int = 0,
        **answer: Any,
    ) -> Sessions:  # fmt: skip
        """The model is asked and answers at once, unless `steps` say otherwise."""
        key, where = self._key("model", session), self._where(session)
        names = (self.history.note(user("go"), self.at_ms),)
        self.history.called(
            **where, key=key, seam="model", request=ModelRequest("m", names), parent=parent,
            tokens=tokens,
        )  # fmt: skip
        usage = {"output_tokens": said} if said else None
        answer = {"status": 200, "usage": usage, **answer}
        answer["rare"] = {name: answer.pop(name) for name in RARE if name in answer}
        self.history.answered(**where, key=key, seam="model", **answer)
        return self

    def tool(self, session: str = "main", steps: tuple[StepRecord, ...] = ()) -> Sessions:
        """A tool runs."""
        key, where = self._key("tool", session), self._where(session)
        self.history.called(**where, key=key, seam="tool", request=ToolRequest("t", "list"))
        value = msgspec.to_builtins(ToolAnswer("ok"))
        self.history.answered(**where, key=key, seam="tool", value=value, steps=steps)
        return self

    def say(self, session: str = "main", kind: Any = "final") -> Sessions:
        """The agent says something to the user."""
        key, where = self._key("outbox", session), self._where(session)
        self.history.called(**where, key=key, seam="outbox", request=OutboxRequest(kind, "done"))
        self.history.answered(**where, key=key, seam="outbox")
        return self

    def end(self) -> History:
        """The run ends."""
        self.history.ended(at_ms=self.at_ms, how="returned")
        return self.history
