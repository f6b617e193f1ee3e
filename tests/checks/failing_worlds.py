"""Stories in which the world fails: streams break off, writes are refused, the agent is killed."""

from __future__ import annotations

import msgspec

from harness.core.values.calls import StoreRequest
from harness.core.values.mark_kinds import Mark
from harness.core.values.messages import Message, ToolUse
from harness.core.values.plans import Close, Outcome, Sent, StepRecord
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story

SENT = (Sent(3, 90), Close())


class FailingWorld(Story):
    """A story with verbs for what goes wrong."""

    def breaks(
        self, text: str, *uses: ToolUse, steps: tuple[StepRecord, ...] = SENT
    ) -> FailingWorld:
        """The model answers, and the answer breaks off; an honest agent forgets what came."""
        self.reply(text, *uses, complete=False, outcome="error", steps=steps)
        self.live.pop()
        return self

    def result(self, text: str, *, flagged: bool) -> FailingWorld:
        """The agent sends this as the result of the tool that ran last."""
        own = self._results[-1]
        self._results[-1] = msgspec.structs.replace(own, content=text, is_error=flagged)
        return self

    def write(
        self, *messages: Message, fails: bool = True, steps: tuple[StepRecord, ...] = ()
    ) -> FailingWorld:
        """The agent writes rows through the seam, and says nothing of it to the store's reader."""
        key = self._key("store")
        rows = tuple(self.history.note(message, self.at_ms) for message in messages)
        request = StoreRequest("append", rows=rows, store="sqlite")
        self.history.called(**self._where(), key=key, seam="store", request=request)
        outcome: Outcome = "error" if fails else "ok"
        self.history.answered(
            **self._where(), key=key, seam="store", outcome=outcome, steps=steps, complete=not fails
        )
        return self

    def refused_picture(self) -> FailingWorld:
        """A turn ends because the provider refuses a picture of the request."""
        self.fail(400, faults=("http.picture_refused",)).final("no", status="failed")
        return self

    def restart(self) -> FailingWorld:
        """The agent is killed and starts again."""
        self.killed()
        self.history.started(
            run="story", scenario="story", world="simulate", seams=ALL_SEAMS, attempt=1
        )
        return self

    def again(self, *uses: ToolUse) -> FailingWorld:
        """The agent is about to run these calls."""
        self._asked = list(uses)
        return self

    def effect(self, key: str = "") -> FailingWorld:
        """The tool that ran last has changed the world."""
        ran = self.history.trace.executions[-1].called.key
        self.history.effect(**self._where(), key=ran, name="paid", idempotency_key=key)
        return self

    def mark(self, holds: bool | None) -> FailingWorld:
        """The agent's code comes to a mark of its author, or only declares it."""
        self.history.marked(Mark("always", "few messages", holds), self.at_ms)
        return self
