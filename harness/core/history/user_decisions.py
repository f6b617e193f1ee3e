"""What the user decided about calls that asked, and for which further calls it counts."""

from __future__ import annotations

import msgspec

from harness.core.values.calls import ApprovalRequest
from harness.core.values.messages import Json, canonical


class UserDecisions(msgspec.Struct):
    """The user's answers of one history. `last` is the newest of each session."""

    last: dict[str, Json] = {}
    _open: dict[str, tuple[str, ApprovalRequest]] = {}
    _of_question: dict[tuple[str, str], tuple[Json, int]] = {}
    _of_tool: dict[tuple[str, str], tuple[Json, int]] = {}

    def of_question(self, session: str, request: ApprovalRequest) -> tuple[Json, int] | None:
        """The answer to an equal question before, and the time at which it comes."""
        return self._of_question.get((session, canonical(request)))

    def of_tool(self, session: str, name: str) -> tuple[Json, int] | None:
        """The answer that allows each call of the tool, and the time at which it comes."""
        return self._of_tool.get((session, name))

    def see_question(self, key: str, session: str, request: ApprovalRequest) -> None:
        """Record a question by the key of its call."""
        self._open[key] = session, request

    def see_answer(self, key: str, value: Json, comes_ms: int) -> None:
        """Record an answer, and when the agent gets to know it.

        One about another call, and one that did not come in time, decides nothing.
        """
        session, request = self._open.pop(key, ("", ApprovalRequest("", "")))
        if not value or value["id"] != request.id or value.get("answer") == "expired":
            return
        self._of_question.setdefault((session, canonical(request)), (value, comes_ms))
        self.last[session] = value
        if value.get("always"):
            self._of_tool.setdefault((session, request.name), (value, comes_ms))
