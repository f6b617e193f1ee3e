"""The way from any transport to one run: one transition, one lock, one clock.

The lock covers the decision only, so a scripted wait blocks no other connection.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import msgspec

from harness import providers
from harness.clock import Clock, NewsWait, VirtualClock, real_monotonic, real_sleep
from harness.clock.turns import take_turn
from harness.core.transition.transition import Transition
from harness.core.values.calls import (
    ApprovalRequest,
    Inbound,
    OutboxRequest,
    Received,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.errors import RunStopped
from harness.core.values.messages import Message
from harness.core.values.plans import (
    DATA,
    Close,
    Head,
    Jump,
    Kill,
    Plan,
    Raise,
    Send,
    Step,
    Wait,
    only_sends,
)
from harness.processes.thread_times import has_other_threads
from harness.providers.shared.record import shape
from harness.transports.session_paths import split_session

LOOK_S = 0.05
"""How often it is looked, on real time, for a message or a cancel that somebody waits for."""

QUIET_S, AFTER_ERROR = 5.0, 10
"""The silence of a target after which its open turn counts as ended without a reply, so that its
reader gets the next message. After a failed answer it may be a back-off, and is ten times as long.
A real clock does not tell what else may happen. `limits.real_s` (30 s) would end the run."""


def _nothing(at_ms: int = 0) -> None:
    """The default callback, for a run without kill, stop or marks."""


class Dispatcher:
    """The way from any transport to one run's transition. Safe to share by threads.

    `on_kill` carries out a `Kill` step (it ends the target, and may not return); `on_stop` is
    called when the run is over and the target, which cannot be reached by an exception, has to be
    ended from outside. `calls`, `under_way` and `failed` tell a watchdog of the target's activity:
    how many requests came, how many answers are on their way, whether the last one is an error.
    `silent_s` is how long the target is silent on real time, for one who measures it better than by
    its calls. `life` counts the kills, and `is_over` says that the run has ended. `before_call` is
    called with the time, under the lock, before a call is recorded.
    """

    calls = under_way = life = 0
    is_over = False

    def __init__(
        self,
        transition: Transition,
        clock: Clock,
        *,
        on_kill: Callable[[], None] = _nothing,
        on_stop: Callable[[], None] = _nothing,
    ) -> None:
        self.transition, self.clock = transition, clock
        self.on_kill, self.on_stop = on_kill, on_stop
        self.before_call: Callable[[int], None] = _nothing
        self._paths = frozenset(transition.paths)
        self._shapes = tuple(shape(path) for path in transition.paths if "{" in path)
        self.lock = threading.Lock()
        self._last: Plan = ()
        self._readers: list[NewsWait] = []
        self._called_s, self.silent_s = real_monotonic(), self._without_a_call_s
        self._answering, self._idle = _UnderWay(self, 1), _UnderWay(self, -1)

    def model(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        timeout_ms: int | None = None,
        query: str = "",
        *,
        in_turn: bool = False,
    ) -> Plan:
        """The plan for a request to the model; `headers` have lower-case names.

        `in_turn`: its task has waited for the `turn` of the call.

        What is not an endpoint of the run's wire gets a 404, or a 405 for another verb, that names
        the endpoints there are; no call is recorded for it.
        """
        session = ""
        if path not in self._paths:
            session, path = split_session(path)
        if not in_turn:
            take_turn(self.clock, "model", session, lambda: body.decode("utf-8", "replace"))
        own = method == "POST" and path in self._paths
        # The address of a count may look like that of a model, so it is asked for first.
        asked = None if own else self.transition.question(method, path)
        known = own or (method == "POST" and (self._is_model(path) or self.transition.serves(path)))
        if not known and asked is None:
            return self._no_endpoint(method, path)

        def decide(at_ms: int) -> Plan:
            received = Received(path, headers, body, at_ms, session, timeout_ms, query)
            if asked is not None:
                return self.transition.provider(asked, received)
            return self.transition.model(received)

        return self._decided(decide)

    def _is_model(self, path: str) -> bool:
        return path in self._paths or any(known.fullmatch(path) for known in self._shapes)

    def tool(self, request: ToolRequest, session: str = "", *, in_turn: bool = False) -> Plan:
        """The plan for a tool call."""
        if not in_turn:
            place = partial(self.transition.place_of, request, session)
            take_turn(self.clock, "tool", session, place, request.name)
        return self._decided(lambda at_ms: self.transition.tool(request, at_ms, session))

    def approval(
        self, request: ApprovalRequest, session: str = "", *, in_turn: bool = False
    ) -> Plan:
        """The plan for the agent's question whether a call may run."""
        if not in_turn:
            asked = ToolRequest(request.id, request.name, request.input)
            place = partial(self.transition.place_of, asked, session)
            take_turn(self.clock, "approval", session, place, request.name)
        return self._decided(lambda at_ms: self.transition.approval(request, at_ms, session))

    def next_inbound(self, cancels: bool = False, reads: bool = False) -> Plan:
        """The plan for the agent's question for its next message.

        It may deliver a cancel in any case: without `cancels` the transport skips that and asks
        again. `reads`: it surely comes from a reader, although the profile says nothing of that.
        """
        if reads or self.transition.pushes:
            return self._pushed(cancels)
        take_turn(self.clock, "inbox", "", str)
        return self._decided(lambda at_ms: self.transition.next_inbound(at_ms, cancels))

    def _pushed(self, cancels: bool) -> Plan:
        """The plan for a reader, once there is a message for it, or the end."""
        if not isinstance(self.clock, VirtualClock):
            alone = None if has_other_threads() else self.pushed(cancels, is_last=True)
            plan = self.news(cancels, real_sleep) if alone is None else alone
            assert plan is not None
            return plan
        is_last = False
        while True:
            take_turn(self.clock, "push", "", str)
            with self._reading(cancels) as news:
                if (plan := self.pushed(cancels, is_last=is_last or news is None)) is not None:
                    return plan
                assert news is not None
                self.clock.keeper.wait(news)
                is_last = news.gave_in

    def news(
        self,
        cancels: bool,
        pause: Callable[[float], object],
        *,
        most_s: float | None = None,
        answers: bool = False,
        refused: str = "",
    ) -> Plan | None:
        """The plan for a reader on real time; None after `most_s`.

        `answers`: the wait is that of a request, so an answer is under way already. While a turn is
        open the target owes its work, and its reader waits for it; else it waits for the user.
        Raises RunStopped for a reader whose life or run has ended.
        """
        life, until_s = self.life, math.inf if most_s is None else real_monotonic() + most_s
        while True:
            quiet_s = QUIET_S * (AFTER_ERROR if self.failed else 1)
            owes = not self.transition.history.past.is_idle
            waits = nullcontext() if owes != answers else self._idle if owes else self._answering
            with waits:
                is_last = owes and self.silent_s() >= quiet_s
                plan = self.pushed(cancels, is_last=is_last, refused=refused, life=life)
                if plan is not None or real_monotonic() >= until_s:
                    return plan
                pause(LOOK_S)

    @property
    def unconfirmed(self) -> Inbound | None:
        """The message that the target was offered and has not accepted."""
        with self.lock:
            offered = self.transition.history.past.unconfirmed
            return None if offered is None else msgspec.convert(offered, Inbound)

    def _without_a_call_s(self) -> float:
        """How long the target has called nothing, and no answer was on its way to it."""
        if self.under_way > 0:
            self._called_s = real_monotonic()
        return real_monotonic() - self._called_s

    def pushed(
        self, cancels: bool, *, is_last: bool, refused: str = "", life: int = 0
    ) -> Plan | None:
        """The plan for a reader of a life; None if it has to wait. See `Transition.pushed`."""
        with self.lock:
            if self.is_over or life < self.life:
                raise RunStopped("the run of this reader is over")
            self.before_call(at_ms := self.clock.now_ms())
            struck = self.transition.file_write(at_ms)
            plan = struck or self.transition.pushed(
                at_ms, cancels, is_last=is_last, refused=refused
            )
            return None if plan is None else self._given(plan)

    @contextmanager
    def _reading(self, cancels: bool) -> Iterator[NewsWait | None]:
        """The wait of a reader, which each event of the block ends; None where nothing else can
        happen, since no other thread is there."""
        clock = self.clock
        if not isinstance(clock, VirtualClock) or clock.keeper.is_alone():
            yield None
            return
        timed_ms = self.transition.next_push_ms(cancels)
        news = NewsWait(None if timed_ms is None else timed_ms * 1000)
        self._readers.append(news)
        try:
            yield news
        finally:
            self._readers.remove(news)

    def outbox(self, request: OutboxRequest, session: str = "") -> Plan:
        """The plan for what the agent says to the user."""
        take_turn(self.clock, "outbox", session, lambda: f"{request.in_reply_to}/{request.text}")
        return self._decided(lambda at_ms: self.transition.outbox(request, at_ms, session))

    def store(
        self,
        request: StoreRequest,
        records: Sequence[bytes],
        messages: Sequence[Message],
        session: str = "",
    ) -> Plan:
        """The plan for a call of the agent's store; see `Transition.store`."""
        take_turn(self.clock, "store", session, lambda: repr((request, records)))
        return self._decided(
            lambda at_ms: self.transition.store(request, records, messages, at_ms, session)
        )

    def refused(self, status: int, text: str, request: str) -> None:
        """Record a request that is refused before it reaches a seam."""
        with self.lock:
            self.transition.refused(status, text, request, self.clock.now_ms())

    def _decided(self, decide: Callable[[int], Plan]) -> Plan:
        """The plan for a call; a kill at a write to the agent's own files comes before any call."""
        with self.lock:
            self.before_call(at_ms := self.clock.now_ms())
            plan = self.transition.file_write(at_ms) or decide(at_ms)
            return self._given(plan)

    def _given(self, plan: Plan) -> Plan:
        self.calls, self._last, self._called_s = self.calls + 1, plan, real_monotonic()
        for reader in self._readers:
            reader.end()
        return plan

    @property
    def failed(self) -> bool:
        """Whether the last answer is one after which an agent may back off."""
        return any(map(_is_error, self._last))

    def answering(self) -> _UnderWay:
        """In this block an answer is on its way: the target may wait for it."""
        return self._answering

    def cancelled(self, session: str) -> bool:
        """Whether the user has cancelled the session's open turn."""
        with self.lock:
            self.calls, self._called_s = self.calls + 1, real_monotonic()
            return self.transition.cancelled(session, self.clock.now_ms())

    def waiting_for_news(self) -> _UnderWay:
        """In this block a request waits for what may never come: the target owes its work."""
        return self._idle

    def cancelled_in_turn(self, session: str) -> bool:
        """As `cancelled`, for one who is told: that is not a call of the target."""
        with self.lock:
            return self.transition.cancelled_in_turn(session, self.clock.now_ms())

    def carry_out(self, step: Step, what: str = "") -> None:
        """A step that tells the agent nothing: wait for `what`, jump, kill. Effects are known."""
        match step:
            case Wait(ms) if isinstance(self.clock, VirtualClock):
                self.clock.sleep(ms / 1000, source="transport", label=what)
            case Wait(ms):
                with self.answering():
                    self.clock.sleep(ms / 1000)
            case Jump(wall_ms, monotonic_ms) if isinstance(self.clock, VirtualClock):
                self.clock.jump(wall_ms, monotonic_ms)
            case Kill():
                with self.lock:  # a reader of this life records nothing after the kill
                    self.life += 1
                self.on_kill()

    def _no_endpoint(self, method: str, path: str) -> Plan:
        self.transition.elsewhere.append(path)
        known = ", ".join(f"POST {p}" for p in sorted(self._paths))
        wire = self.transition.scenario.wire
        text = f"loop-harness: no {method} {path[:200]} here; this run serves the wire {wire}: "
        step = providers.step_from(path, wire) if method == "POST" else ""
        text += f"{known}; {step}" if step else known
        status = 405 if self._is_model(path) else 404
        error = {"type": "not_found_error", "message": text}
        self.calls += 1
        self._last = json_answer(status, {"type": "error", "error": error})
        return self._last


class _UnderWay:
    """A block in which `more` answers are on their way, beside the others."""

    def __init__(self, dispatcher: Dispatcher, more: int) -> None:
        self._of, self._more = dispatcher, more

    def __enter__(self) -> None:
        with self._of.lock:
            self._of.under_way += self._more

    def __exit__(self, *error: object) -> None:
        with self._of.lock:
            self._of.under_way -= self._more


def replied_to(names: Sequence[str]) -> dict[str, Any]:
    """The fields of an outbox request that name what it answers; an empty name names nothing."""
    named = tuple(dict.fromkeys(name for name in names if name))
    return {"in_reply_to": named[0], "also": named[1:]} if named else {}


def json_answer(status: int, value: object, **headers: str) -> Plan:
    """A plan that answers with JSON."""
    head = Head(status, {"content-type": "application/json", **headers})
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a character, which JSON can say and UTF-8 cannot
        data = json.dumps(value).encode()
    return (Send(data, head),)


def _is_error(step: Step) -> bool:
    match step:
        case Raise() | Close():
            return True
        case Send(head=Head(status=status)):
            return status >= 400
    return False


def is_stop(step: Step) -> bool:
    """Whether the step says that the run is over."""
    return isinstance(step, Raise) and step.error == "stop"


def at_once(plan: Plan) -> tuple[Head, bytes] | None:
    """Head and body of a plan that sends a whole answer and does nothing else; None otherwise.

    Nearly every plan is one, so this is the short way past `exchange`.
    """
    first = plan[0] if plan else None
    if type(first) is not Send or first.head is None:
        return None
    head = first.head
    if "content-length" in head.headers or "transfer-encoding" in head.headers:
        return None
    if len(plan) == 1:
        return head, first.data
    return (head, b"".join(map(DATA, plan))) if only_sends(plan) else None
