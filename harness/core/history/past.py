"""Running counters of the past, updated as events are appended.

Scripts and faults read them on every call; a fold of the history each time would be quadratic.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from harness.core.values.calls import (
    ApprovalRequest,
    InboxRequest,
    OutboxRequest,
    Purpose,
    Request,
    Seam,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.messages import Json

MessageName: TypeAlias = tuple[str, str]
"""A session and the id of one of its inbound messages. Many channels count the messages of each
chat from 1, so an id alone names several."""


class Past:
    """Running counters over the events of one history; only the history writes them.

    By session, `asked` holds the ids of the calls in the model's newest main answer, and `ran` is
    the newest tool run; `turn_calls` counts the model's calls since the last message. `failed`
    holds the ids of the calls whose tool failed. `taken_back` counts the deliveries that a kill
    undid. `downtime_ms` is the time between the lives of the agent.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.session_calls: Counter[tuple[str, str]] = Counter()
        self.tool_calls: Counter[str] = Counter()
        self.store_calls: Counter[str] = Counter()
        self.purpose_calls: Counter[str] = Counter()
        self.turn_calls: Counter[str] = Counter()
        self.crossed: set[str] = set()
        self.asked: dict[str, tuple[str, ...]] = {}
        self.ran: dict[str, ToolRequest] = {}
        self.failed: set[str] = set()
        self._running: dict[str, str] = {}
        self.plays: Counter[tuple[str, int]] = Counter()
        self.last_played: dict[str, int] = {}
        self.played_for: dict[str, MessageName] = {}
        self.delivered: Counter[MessageName] = Counter()
        self.taken_back = self.downtime_ms = 0
        self.cancelled: dict[str, int] = {}
        self.inbounds: dict[MessageName, Json] = {}
        self.said: dict[str, str] = {}
        self.limit_answers = 0
        self.previous_ms = self._called_ms = 0
        self._last_delivered = ""
        self._unconfirmed: MessageName | None = None
        self._turns: Counter[str] = Counter()
        self._open: dict[str, str] = {}
        self._unanswered: set[str] = set()
        self._lanes: dict[str, tuple[str, str]] = {}

    def next_index(self, session: str, seam: Seam) -> int:
        """The number that the next call of `session` on `seam` gets; the first is 1."""
        return self.session_calls.get((session, seam), 0) + 1

    def turn(self, session: str) -> int:
        """The number of the session's turn, 0 before its first inbound message."""
        return self._turns.get(session, 0)

    def is_open(self, session: str) -> bool:
        """Whether an inbound message of the session is being worked on."""
        return session in self._open

    @property
    def open_sessions(self) -> tuple[str, ...]:
        """The sessions with an open turn, in the order in which their turns began."""
        return tuple(self._open)

    @property
    def working_session(self) -> str:
        """The session in progress: the open one that began last, else `main`."""
        return next(reversed(self._open), "main")

    def is_worked_on(self, message: MessageName) -> bool:
        """Whether an inbound message opened a turn that has not ended."""
        session, name = message
        return self._open.get(session) == name

    def goes_on(self, session: str) -> bool:
        """Whether the agent may still work on a session without an answer, beside the last
        session."""
        return session in self._unanswered and session != self._last_delivered

    def open_inbound(self, session: str) -> str:
        """The id of the session's inbound message in progress; "" if the session is idle."""
        return self._open.get(session, "")

    def is_answered(self, name: str) -> bool:
        """Whether a call was answered, by its key or as the number of its seam (`model#3`).

        This needs no memory for closed calls. The calls of a seam are numbered, so a call that was
        made is answered unless it is still open.
        """
        lane, _, number = name.rpartition("#")
        session, _, seam = lane.rpartition("/")
        if not number.isdecimal() or int(number) < 1:
            return False
        alone = not session or seam == "inbox"
        made = self.calls[seam] if alone else self.session_calls.get((session, seam), 0)
        waiting = {name for key, (_, ordinal) in self._lanes.items() for name in (key, ordinal)}
        return int(number) <= made and name not in waiting

    def see_called(
        self,
        key: str,
        seam: Seam,
        session: str,
        request: Request,
        purpose: Purpose = "main",
        at_ms: int = 0,
    ) -> None:
        """Count a call; the history calls this as it appends the event."""
        self.previous_ms, self._called_ms = self._called_ms, at_ms
        self.calls[seam] = n = self.calls.get(seam, 0) + 1
        self.session_calls[session, seam] += 1
        ordinal = f"{seam}#{n}"
        if seam == "model":
            self.purpose_calls[purpose] += 1
            self.turn_calls[session] += 1
            self._lanes[key] = (f"model:{purpose}", ordinal)
            return
        lane: str = seam
        if isinstance(request, ToolRequest):
            self.tool_calls[request.name] += 1
            self.crossed.add(request.id)
            self.ran[session] = request
            self._running[key] = request.id
            lane = f"tool:{request.name}"
        if isinstance(request, ApprovalRequest):
            lane = f"approval:{request.name}"
        if isinstance(request, StoreRequest):
            self.store_calls.update({request.access, request.operation})
        self._lanes[key] = (lane, ordinal)
        if isinstance(request, OutboxRequest) and request.kind in ("final", "error"):
            self._open.pop(session, None)
            self._unanswered.discard(session)
            self.said[session] = request.text
        if isinstance(request, InboxRequest) and not request.poll:
            self._open.pop(self._last_delivered, None)
            self._unconfirmed = None

    def see_answered(
        self,
        key: str,
        seam: Seam,
        turn: int | None = None,
        error: str = "",
        value: Json = None,
        asks: tuple[str, ...] = (),
        is_failure: bool = False,
    ) -> None:
        """Count an answer. `turn` is the script turn whose value was sent completely; `asks` are
        the ids of its calls. `is_failure`: a tool failed."""
        lane, _ = self._lanes.pop(key, (seam, ""))
        call = self._running.pop(key, None)
        if call is not None and is_failure:
            self.failed.add(call)
        if lane == "model:main":
            self.asked[key.rpartition("/")[0]] = asks
        if seam == "inbox" and value:
            self._see_delivered(value, key.rpartition("/")[0])
        if error.startswith("limit."):
            self.limit_answers += 1
        if turn is not None:
            self.last_played[lane] = turn
            session = key.rpartition("/")[0]
            self.played_for[lane] = session, self._open.get(session, "")
            self.plays["model" if seam == "model" else lane, turn] += 1

    def see_killed(self) -> None:
        """Record a kill of the agent. Its inbox delivers an unconfirmed message again; an agent
        confirms a message when it asks for the next."""
        if self._unconfirmed is not None:
            self.delivered[self._unconfirmed] -= 1
            self.taken_back += 1
            self._unconfirmed = None

    def _see_delivered(self, inbound: Json, due_in: str) -> None:
        """Count a delivery. `due_in` is the session that the message was sent to.

        A fault may deliver it under another session (`gateway.session_key_collides`). Then it still
        counts as the message that was due, which must not come a second time.
        """
        session, name = inbound.get("session", "main"), inbound["id"]
        counted = session, name
        if due_in and counted not in self.inbounds:
            counted = due_in, name
        self.delivered[counted] += 1
        self.inbounds.pop((session, name), None)
        self.inbounds[session, name] = inbound
        if inbound.get("kind", "message") != "message":
            if session in self._unanswered:
                self.cancelled[session] = self.turn(session)
        else:
            self._turns[session] += 1
            self.turn_calls[session] = 0
            self._open[session], self._unconfirmed = name, counted
            self._last_delivered = session
            self._unanswered.add(session)
