"""Running counters of the past, updated as events are appended.

Scripts and faults read them on every call; a fold of the history each time would be quadratic.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from harness.core.history.user_decisions import UserDecisions
from harness.core.values.calls import (
    ApprovalRequest,
    InboxRequest,
    ModelRequest,
    OutboxRequest,
    Purpose,
    Request,
    Seam,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.messages import Json
from harness.core.values.profile import NO_PROFILE

MessageName: TypeAlias = tuple[str, str]
"""A session and the id of one of its inbound messages: each chat may count its own from 1."""


class Past:
    """Running counters over the events of one history; only the history writes them.

    By session, `asked` holds the ids of the calls in the model's newest main answer, and `ran` is
    the newest tool run. `turn_calls` counts the model's calls since the last message. `children`
    are the sessions of sub-agents, and `child_calls` counts their model calls. `failed` holds the
    ids of the calls that failed, `finished` the messages that had their reply. `taken_back` counts
    the deliveries that a kill or a refusal undid, by message; those of `comes_again` are still to
    come. `downtime_ms` is the time between the lives of the agent. `profile` says what the agent
    does with messages in mid-turn. `decisions` are the user's about calls. `asked_of` counts the
    model's calls. `inbox_ended`: the last question for a message got none.
    """

    def __init__(self) -> None:
        self.calls, self.tool_calls = Counter[str](), Counter[str]()
        self.session_calls: Counter[tuple[str, str]] = Counter()
        self.store_calls, self.purpose_calls = Counter[str](), Counter[str]()
        self.asked_of: Counter[tuple[str, str, str]] = Counter()
        self.turn_calls: Counter[str] = Counter()
        self.children, self.child_calls = set[str](), 0
        self.crossed, self.failed = set[str](), set[str]()
        self.asked: dict[str, tuple[str, ...]] = {}
        self.ran: dict[str, ToolRequest] = {}
        self._running: dict[str, str] = {}
        self.plays: Counter[tuple[str, int]] = Counter()
        self.last_played: dict[str, int] = {}
        self.played_for: dict[str, MessageName] = {}
        self.delivered: Counter[MessageName] = Counter()
        self.taken_back, self.comes_again = Counter[MessageName](), set[MessageName]()
        self.cancelled, self.said = dict[str, int](), dict[str, str]()
        self.inbounds: dict[MessageName, Json] = {}
        self.profile = NO_PROFILE
        self.limit_answers = self.downtime_ms = self.previous_ms = self._called_ms = 0
        self._last_delivered, self._asks_inbox, self.inbox_ended = "", "", False
        self._unconfirmed: MessageName | None = None
        self._turns: Counter[str] = Counter()
        self._open, self._untouched = dict[str, str](), dict[str, str]()
        self._waiting: dict[str, list[str]] = {}
        self._has_reader = False
        self._ending: dict[str, tuple[str, OutboxRequest]] = {}
        self._cut: dict[str, str] = {}
        self._given, self.finished = set[MessageName](), set[MessageName]()
        self._refused, self._unanswered = set[str](), set[str]()
        self._took: dict[str, tuple[str, ...]] = {}
        self._came_before_stop: dict[str, tuple[str, ...]] = {}
        self._lanes: dict[str, tuple[str, str]] = {}
        self.decisions = UserDecisions()

    def next_index(self, session: str, seam: Seam) -> int:
        """The number that the next call of `session` on `seam` gets; the first is 1."""
        return self.session_calls.get((session, seam), 0) + 1

    def turn(self, session: str) -> int:
        """The number of the session's turn, 0 before its first inbound message."""
        return self._turns.get(session, 0)

    def is_open(self, session: str) -> bool:
        """Whether an inbound message of the session is being worked on."""
        return session in self._open

    def waiting(self, session: str) -> tuple[str, ...]:
        """The ids of the messages that came while a turn was open, and are in none so far."""
        return tuple(self._waiting.get(session, ()))

    def _first_waiting(self, session: str) -> str:
        return next(iter(self.waiting(session)), "")

    @property
    def comes_in_turn(self) -> bool:
        """Whether a message that is given now comes during a turn, which it does not end."""
        # An agent drops a message that it has answered, and says nothing about it.
        is_new = bool(self._open.items() - self.finished)
        works = is_new or any(self.turn_calls[session] > 0 for session in self._open)
        return self._has_reader and (works or bool(self._waiting))

    def comes_behind(self, session: str, name: str) -> bool:
        """Whether a message that is given now begins no turn: it comes during one, or behind one
        that a kill cut, with which the agent may go on first. Its first call tells."""
        return self.comes_in_turn or (self._has_reader and self._cut.get(session, name) != name)

    @property
    def unconfirmed(self) -> Json:
        """The message that the agent was offered and has not accepted; None without one."""
        return self.inbounds.get(self._unconfirmed) if self._unconfirmed else None

    @property
    def is_idle(self) -> bool:
        """Whether no turn is open and no message waits for its own, so that none is waited for."""
        waiting = ((session, name) for session, names in self._waiting.items() for name in names)
        return not self._open and self.comes_again.issuperset(waiting)

    @property
    def others_waiting(self) -> tuple[tuple[str, str], ...]:
        """The messages, by session and text, that wait or that a kill cut, without an open turn."""
        cut = ((session, [name]) for session, name in self._cut.items())
        return tuple(
            (session, self.inbounds.get((session, name), {}).get("text", ""))
            for session, names in (*cut, *self._waiting.items())
            if session not in self._open
            for name in names
        )

    def reply_refused(self, session: str) -> bool:
        """Whether the outbox has accepted no reply of the open turn, and refused one."""
        return session in self._refused

    def turn_of_call(self, session: str, request: Request) -> int:
        """The number of the turn that a call belongs to: it may begin the one that waits."""
        first = self._first_waiting(session)
        answers = request.answers if isinstance(request, OutboxRequest) else ()
        # What a kill took back has no turn so far: a reply may be that of a turn before, repeated.
        is_due = first in answers or (session, first) not in self.comes_again
        return self.turn(session) + bool(first and is_due and not self.open_inbound(session))

    @property
    def open_sessions(self) -> tuple[str, ...]:
        """The sessions with an open turn, in the order in which their turns began."""
        return tuple(self._open)

    @property
    def working_session(self) -> str:
        """The open session that began last, or that a reader's agent asked the model for last; else
        the first that waits, else `main`."""
        return next(reversed(self._open), "") or next(iter(self._waiting), "main")

    def is_worked_on(self, message: MessageName) -> bool:
        """Whether an inbound message opened a turn that has not ended."""
        session, name = message
        return self.open_inbound(session) == name

    def goes_on(self, session: str) -> bool:
        """Whether a session is still worked on, beside the last one or beside a reader."""
        if self._has_reader:
            return session in self._open
        return session in self._unanswered and session != self._last_delivered

    def open_inbound(self, session: str) -> str:
        """The id of the session's message in progress, which a kill does not end; "" for none."""
        return self._open.get(session) or self._cut.get(session, "")

    def is_answered(self, name: str) -> bool:
        """Whether a call was answered, by its key or as the number of its seam (`model#3`).

        The calls of a seam are numbered, so one that was made is answered unless it is still open.
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
        turn: int = 0,
        provider: str = "",
        parent: str = "",
    ) -> None:
        """Count a call; the history calls this as it appends the event. A call of a later `turn`
        than the open one begins that turn. A `parent` makes the session a child."""
        self.previous_ms, self._called_ms = self._called_ms, at_ms
        self.calls[seam] = n = self.calls.get(seam, 0) + 1
        self.session_calls[session, seam] += 1
        while session in self._waiting and seam != "inbox" and turn > self.turn(session):
            self._begin_waiting(session)
        self._untouched.pop(session if seam != "inbox" else "", None)
        if seam == "model":
            self._see_model(session, request)
            self._see_purpose(session, request, purpose, provider, parent)
            self._lanes[key] = f"model:{purpose}", f"{seam}#{n}"
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
            self.decisions.see_question(key, session, request)
        if isinstance(request, StoreRequest):
            self.store_calls.update({request.access, request.operation})
        self._lanes[key] = lane, f"{seam}#{n}"
        if isinstance(request, OutboxRequest):
            self._see_said(key, session, request)
        if isinstance(request, InboxRequest) and not request.poll:
            self._see_asked(key, request)

    def _see_purpose(
        self, session: str, request: Request, purpose: Purpose, provider: str, parent: str
    ) -> None:
        """Count a call of the model by what it is for, and for whom."""
        self.purpose_calls[purpose] += 1
        self.asked_of[purpose, provider, getattr(request, "model", "")] += 1
        self.turn_calls[session] += 1
        if parent:
            self.children.add(session)
        self.child_calls += session in self.children

    def _see_asked(self, key: str, request: InboxRequest) -> None:
        """Count a question for the next message; that of a reader ends no turn."""
        self._asks_inbox, self._has_reader = key, request.reader
        if request.refused:
            self._take_back()
        if not request.reader:
            self._open.pop(self._last_delivered, None)
            self._begin_waiting(self._last_delivered)
        self._unconfirmed = None

    def _see_model(self, session: str, request: Request) -> None:
        """Count a request to the model: it may take in what has come, and its session works."""
        if isinstance(request, ModelRequest) and request.took:
            self._see_reached(session, request.took)
        if self._has_reader and session in self._open:
            self._open[session] = self._open.pop(session)

    def _see_said(self, key: str, session: str, request: OutboxRequest) -> None:
        """Count what is said to the user. Beside a reader, a turn ends once its reply has arrived:
        until then the agent sends it again, and what has come waits."""
        is_end = request.kind in ("final", "error")
        if self._has_reader and (is_end or request.status == "cancelled"):
            self._ending[key] = session, request
        elif is_end:
            self._see_ended(session, request)

    def _see_ended(self, session: str, request: OutboxRequest) -> None:
        """Count the end of a turn; a reply that names messages of another one does not end it."""
        self.said[session] = request.text
        if self._has_reader and request.answers:
            known = {name for name in request.answers if (session, name) in self.inbounds}
            own = {self.open_inbound(session), *self._took.get(session, ())}
            if known and known.isdisjoint(own):
                return
        self._refused.discard(session)
        ended = self.open_inbound(session), *self._took.pop(session, ())
        stopped = self._came_before_stop.pop(session, ())
        if request.status == "cancelled":  # it may answer what came before the stop, unread
            ended += tuple(name for name in request.answers if name in stopped)
            self._stop_waiting(session, ended)
        self._open.pop(session, None)
        self.finished.update((session, name) for name in ended)
        self._cut.pop(session, None)
        self._unanswered.discard(session)
        # An agent that had stored what a kill took back begins it by a request; no other knows it.
        if (session, self._first_waiting(session)) not in self.comes_again:
            self._begin_waiting(session)

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
        the ids of its calls. `is_failure`: a tool failed, or a reply did not arrive."""
        lane, _ = self._lanes.pop(key, (seam, ""))
        call = self._running.pop(key, None)
        if call is not None and is_failure:
            self.failed.add(call)
        if lane == "model:main":
            self.asked[key.rpartition("/")[0]] = asks
        if reply := self._ending.pop(key, None):
            if is_failure:
                self._refused.add(reply[0])
            else:
                self._see_ended(*reply)
        if key == self._asks_inbox:
            self.inbox_ended = not value
        if seam == "inbox" and value:
            self._see_delivered(value, key.rpartition("/")[0])
        if error.startswith("limit."):
            self.limit_answers += 1
        if turn is not None:
            self.last_played[lane] = turn
            session = key.rpartition("/")[0]
            self.played_for[lane] = session, self.open_inbound(session)
            self.plays["model" if seam == "model" else lane, turn] += 1

    def see_accepted(self) -> None:
        """Record that the agent has the last message: a kill does not bring it back."""
        self._unconfirmed = None

    def see_killed(self) -> None:
        """Record a kill. The inbox delivers a message again that the agent has not confirmed."""
        session, name = self._unconfirmed or ("", "")
        if name and self._untouched.pop(session, "") == name:
            self._turns[session] -= 1  # its turn had begun by the end of the last, and in no event
            self._open.pop(session, None)
        self._take_back()
        if self._has_reader:
            self._cut.update(self._open)
            self._open.clear()
            self._ending.clear()
        self._given.clear()

    def _take_back(self) -> None:
        """Let the message that the agent has not accepted come again."""
        if self._unconfirmed is not None:
            self.delivered[self._unconfirmed] -= 1
            self.taken_back[self._unconfirmed] += 1
            self.comes_again.add(self._unconfirmed)
            self._unconfirmed = None

    def _see_delivered(self, inbound: Json, due_in: str) -> None:
        """Count a delivery. `due_in` is the session that the message was sent to.

        A fault may deliver it under another session (`gateway.session_key_collides`). Then it still
        counts as the message that was due, which must not come a second time.
        """
        session, name = inbound.get("session", "main"), inbound["id"]
        is_known = not due_in or (session, name) in self.inbounds
        counted = (session if is_known else due_in), name
        self.delivered[counted] += 1
        # A message of a fault counts as one of the session that was asked for, which has no such.
        made = {each for each in self.comes_again if each[1] == name and each not in self.inbounds}
        self.comes_again -= {counted, *made}
        self.inbounds.pop((session, name), None)
        self.inbounds[session, name] = inbound
        if inbound.get("kind", "message") != "message":
            if session in self._unanswered:
                self.cancelled[session] = self.turn(session)
                self._came_before_stop[session] = self.waiting(session)
            return
        self._unconfirmed, self._last_delivered = counted, session
        if counted in self._given and self.comes_in_turn:
            return  # it waits already, or is in the turn
        self._given.add(counted)
        self._stop_waiting(session, (name,))  # after a kill it comes a second time
        if self.comes_behind(session, name):
            self._waiting.setdefault(session, []).append(name)
        else:
            self._begin(session, name)

    def _begin(self, session: str, name: str) -> None:
        self._turns[session] += 1
        self._cut.pop(session, None)
        self._refused.discard(session)
        self.turn_calls[session] = 0
        self._open[session] = name
        self._unanswered.add(session)

    def _begin_waiting(self, session: str) -> None:
        """Begin the turn of the first message that came during the one that has ended."""
        if names := self.waiting(session):
            self._begin(session, names[0])
            self._untouched[session] = names[0]
            self._stop_waiting(session, names[:1])

    def _see_reached(self, session: str, took: tuple[str, ...]) -> None:
        """Count a main request that takes in what has come."""
        self._stop_waiting(session, took)
        self._took[session] = self._took.get(session, ()) + took

    def _stop_waiting(self, session: str, names: tuple[str, ...]) -> None:
        left = [name for name in self._waiting.pop(session, []) if name not in names]
        if left:
            self._waiting[session] = left
