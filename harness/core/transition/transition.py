"""The transition: one call in, one plan out, and the events that record it.

Every transport and both worlds call only this, so a scenario means the same everywhere. The order
is fixed: read the request; record disk changes and the call; check limits and dialect; script;
value faults; provider bytes; byte faults. The answer is recorded before any step runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from harness.core.history.events import OWN_WRITE
from harness.core.history.history import History
from harness.core.scenario import inbox
from harness.core.scenario.inbox import user_pause_ms
from harness.core.scenario.scenario import Scenario
from harness.core.scenario.script import ToolScripts
from harness.core.transition.answer_event import record_answer
from harness.core.transition.approval_seam import answer_approval, as_asked, of_its_call
from harness.core.transition.arming import POLL, ArmedFault, bend_all
from harness.core.transition.bound_tools import BoundTools
from harness.core.transition.inline_faults import Misfit
from harness.core.transition.limits import STOP
from harness.core.transition.model_routes import ModelRoutes, ProviderAt, no_provider
from harness.core.transition.model_seam import ModelSeam
from harness.core.transition.ports import (
    IssuedThinking,
    Provider,
    Script,
)
from harness.core.transition.provider_seam import ProviderSeam
from harness.core.transition.tool_seam import answer_tool, meant_call, place_of, spread
from harness.core.values.calls import (
    ApprovalRequest,
    Call,
    Inbound,
    InboxRequest,
    OutboxRequest,
    ProviderRequest,
    Received,
    Request,
    Seam,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.draws import Draws
from harness.core.values.messages import Message, ToolSpec, ToolUse
from harness.core.values.plans import (
    Accepted,
    Answer,
    Delivered,
    Kept,
    Kill,
    Plan,
    Send,
    Wait,
    is_consumed,
)

REFUSALS_MOST = 100
"""The largest number of refused requests that a history records."""


NO_KILL = "", "", 0
"""The kill at a write to the agent's own files where none is due."""


def _unread_schema(use: ToolUse, offered: Sequence[ToolSpec]) -> str:
    """Every input fits a schema that nothing reads."""
    return ""


class Transition:
    """The state of one run: its history, and the parts that read, script, change and write.

    `look` is called before each call and records changes in the session store. The room that knows
    the store sets it and does the IO. `files` says how the agent has written to its own files since
    it was asked last, a word for each write. `file_kill` is the place of a kill at such a write,
    what the kill leaves, and which of the writes it is. `bound` says whose tool a call meets.
    `at_ms` comes with every call. Calls must not overlap, so a transport with several connections
    holds a lock. `paths` are the model's endpoints. `polled`: the agent polls for cancels.
    `tools_taken`: it listed the tools. `elsewhere` are the paths at which it asked for a model and
    none is. `user_pauses`: seconds pass before a message, which cost nothing on virtual time.
    `stored` holds the seeded messages of the agent's session.
    """

    def __init__(
        self,
        scenario: Scenario,
        wire: Provider,
        script: Script,
        history: History,
        *,
        faults: Sequence[ArmedFault] = (),
        stored: Sequence[Message] = (),
        misfit: Misfit = _unread_schema,
        others: ProviderAt = no_provider,
    ) -> None:
        self.scenario, self.history, self.faults = scenario, history, tuple(faults)
        self.script, self.draws, self.paths = script, Draws(scenario.seed), wire.paths()
        self.tools = ToolScripts(scenario.tools, scenario.policy)
        self.bound = BoundTools(scenario, misfit)
        self._tool_names = self.bound.names
        self.inbox = inbox.Inbox(inbox.entries(scenario.inbox))
        for fault in self.faults:
            fault.traits, fault.names = wire.traits(), self._tool_names
        history.fault_layers = {f.spec.kind: f.layer for f in self.faults if f.layer}
        self._polls = tuple(fault for fault in self.faults if fault.spec.on == POLL)
        self._file_faults = tuple(fault for fault in self.faults if fault.seam == "file")
        self.look: Callable[[int], None] = _unseen
        self.files: Callable[[], Sequence[str]] = tuple
        self.file_writes, self.file_kill = 0, NO_KILL
        self._file_plan: Plan = ()
        self.polled = self.tools_taken = self.user_pauses = False
        self.elsewhere: list[str] = []
        self._refusals = 0
        recorded = getattr(script, "recorded", False)
        issued = None if recorded else IssuedThinking(history, stored, wire.name)
        world = (script, history, self.draws, self.faults, self.bound)
        self.models = ModelRoutes(ModelSeam(scenario, wire, *world, issued, stored), others)
        self._provider = ProviderSeam(scenario, wire, history, self.draws, self.faults, issued)
        self.question = self._provider.question

    @property
    def endless_pattern(self) -> str:
        """What is wrong with a regular expression of the scenario that did not end; "" if none."""
        return self.models.endless

    def model(self, received: Received) -> Plan:
        """Answer a model request."""
        seam = self.models.at(received.path)
        session = received.session or seam.session_in(received.body)
        endpoint = seam.endpoint(received.path)
        call, reading = seam.call(received, session, endpoint)
        self.look(received.at_ms)
        seam.record(call, received, reading, endpoint)
        return seam.answer(call, reading, self._limit(call), endpoint)

    def serves(self, path: str) -> bool:
        """Whether a model of another provider than the run's is at a path, as things stand."""
        return self.models.serves(path, self.history.past.calls["model"])

    def provider(self, asked: ProviderRequest, received: Received) -> Plan:
        """Answer a request for facts, which is not a turn of the script."""
        session = received.session or self.history.past.working_session
        self.look(received.at_ms)
        call, facts = self._provider.call(asked, received, session)
        endpoint = self.models.at(received.path).endpoint(received.path)
        return self._provider.answer(call, facts, self._limit(call), endpoint)

    def tool(self, request: ToolRequest, at_ms: int, session: str = "") -> Plan:
        """Run a scripted tool; a request without an id belongs to the model's matching call."""
        self.tools_taken = True
        request = self._meant(request, session)
        call = self._call("tool", session or self.history.past.working_session, at_ms, request)
        self._record(call)
        plan, turn, error = answer_tool(
            self.scenario, self.tools, self.history, call, self._limit(call)
        )
        at_once = self.scenario.orders is not None
        plan = spread(plan, self.history, call, self.draws, at_once=at_once)
        return self._answer(call, plan, turn=turn, error=error)

    def _meant(self, request: ToolRequest, session: str) -> ToolRequest:
        """The request with the scenario's name of the tool, and with the id of the model's call."""
        if not self.tools.known(request.name):
            meant = self._tool_names.meant_by(request.name)
            request = msgspec.structs.replace(request, name=meant)
        if not request.id:
            meant = meant_call(self.history, self._tool_names, request, session)
            request = msgspec.structs.replace(request, id=meant)
        return request

    def approval(self, request: ApprovalRequest, at_ms: int, session: str = "") -> Plan:
        """Ask the user whether a call may run; see `answer_approval`."""
        session, asked = session or self.history.past.working_session, request.id
        request = of_its_call(self.history, request, session, self._meant)
        call = self._call("approval", session, at_ms, request)
        plan, turn = answer_approval(self.scenario.tools, self.history.past, call, request)
        self._record(call)
        if limit := self._limit(call):
            return self._answer(call, (STOP,), error=f"limit.{limit}")
        return as_asked(self._answer(call, plan, turn=turn), asked, request.id)

    def place_of(self, request: ToolRequest, session: str = "") -> str:
        """A text by which calls of tools sort in the order of the model's answer."""
        return place_of(self.history, self._tool_names, request, session)

    def next_inbound(self, at_ms: int, cancels: bool = False) -> Plan:
        """Give the agent its next message, after a wait if none is due yet, or the end.

        A cancel of an open turn comes here only with `cancels`. A cancel between turns always comes
        here; a transport skips it for an agent that takes only messages.
        """
        past = self.history.past
        entry = inbox.due(self.inbox, past, at_ms, busy=False, cancels=cancels)
        when_ms = at_ms
        if entry is None and (timed := inbox.next_ms(self.inbox, past, cancels)) is not None:
            when_ms = timed
            entry = inbox.due(self.inbox, past, when_ms, busy=False, cancels=cancels)
        elif entry is not None and entry.idle and self.user_pauses:
            when_ms += user_pause_ms(past, self.draws, entry.inbound)
        request = InboxRequest(cancels=cancels)
        return self._deliver(request, entry.inbound if entry else None, at_ms, when_ms)

    @property
    def pushes(self) -> bool:
        """Whether messages are pushed to the agent while it works."""
        return self.scenario.profile.inbound is not None

    def pushed(
        self, at_ms: int, cancels: bool = False, *, is_last: bool = False, refused: str = ""
    ) -> Plan | None:
        """Give a reader the next message, or the end; None while the reader has to wait.

        A message of an idle user waits until no turn is open, and so does the end: a program ends
        its worker with its reader. `is_last`: nothing else can happen, so neither waits longer. An
        agent that takes in nothing has then ended its turn without a reply. `refused`: why the last
        message was not accepted; it comes again at once.
        """
        past = self.history.past
        if refused and past.unconfirmed is not None:
            again = msgspec.convert(past.unconfirmed, Inbound)
            request = InboxRequest(cancels=cancels, reader=True, refused=refused)
            return self._deliver(request, again, at_ms, at_ms)
        entry = inbox.due(self.inbox, past, at_ms, busy=not past.is_idle, cancels=cancels)
        if entry is None and not is_last:
            if past.is_idle and inbox.next_ms(self.inbox, past, cancels) is None:
                return self._push(None, at_ms, at_ms, cancels)
            self.history.accepted(at_ms)
            return None
        if entry is not None:
            pause_ms = (
                user_pause_ms(past, self.draws, entry.inbound)
                if entry.idle and self.user_pauses
                else 0
            )
            return self._push(entry.inbound, at_ms, at_ms + pause_ms, cancels)
        if (timed := inbox.next_ms(self.inbox, past, cancels)) is not None:
            entry = inbox.due(self.inbox, past, timed, busy=True, cancels=cancels)
            return self._push(entry.inbound if entry else None, at_ms, timed, cancels)
        entry = inbox.due(self.inbox, past, at_ms, busy=False, cancels=cancels)
        reads = entry is not None and self._steers(entry.inbound.session)
        return self._push(entry.inbound if entry else None, at_ms, at_ms, cancels, reads=reads)

    def _steers(self, session: str) -> bool:
        """Whether an agent that asks in a turn it works on goes on with it."""
        is_steered = self.scenario.profile.inbound_policy(session) == "steer"
        return is_steered and bool(self.history.past.turn_calls[session])

    def _push(
        self, inbound: Inbound | None, at_ms: int, when_ms: int, cancels: bool, reads: bool = True
    ) -> Plan:
        return self._deliver(InboxRequest(cancels=cancels, reader=reads), inbound, at_ms, when_ms)

    def next_push_ms(self, cancels: bool = False) -> int | None:
        """The time of the next timed message in milliseconds; None if none is pending."""
        return inbox.next_ms(self.inbox, self.history.past, cancels)

    def _deliver(
        self, request: InboxRequest, inbound: Inbound | None, at_ms: int, when_ms: int
    ) -> Plan:
        inbound = self.inbox.undone(self.history.past) or inbound
        call = self._call("inbox", inbound.session if inbound else "", at_ms, request)
        self._record(call)
        if inbound is not None:
            again = self.history.past.taken_back[inbound.session, inbound.id]
            inbound = msgspec.structs.replace(inbound, at_ms=when_ms, attempt=1 + again)
        wait: Plan = (Wait(when_ms - at_ms),) if when_ms > at_ms else ()
        return self._taken(call, (*wait, Answer(Delivered(inbound))))

    def cancelled_in_turn(self, session: str, at_ms: int) -> bool:
        """Like `cancelled`, for an agent that is notified of a cancel at once; False between
        turns."""
        self.polled = True
        is_open = bool(self.history.past.open_inbound(session))
        return is_open and self.cancelled(session, at_ms, pushed=True)

    def cancelled(self, session: str, at_ms: int, *, pushed: bool = False) -> bool:
        """Whether the user has cancelled the session's open turn; delivers a cancel that is due."""
        past, self.polled = self.history.past, True
        # Not what waits behind a turn whose stop was told, also where the outbox was silent.
        is_told = past.reply_refused(session) and past.waiting(session)
        is_stopped = past.is_open(session) and past.cancelled.get(session) == past.turn(session)
        if is_stopped and not is_told:
            return True
        entry = inbox.due_cancel(self.inbox, past, at_ms, session)
        if entry is None and not self._polls:
            return False
        call = self._call("inbox", session, at_ms, InboxRequest(poll=True, pushed=pushed))
        plan: Plan = (Answer(Delivered(inbox.sent(entry) if entry else None)),)
        plan, by = bend_all(self._polls, "value", call, self.history, self.draws, plan)
        if entry is None and not by:
            return False
        self._record(call)
        record_answer(self.history, call, plan, faults=by)
        return True

    def outbox(self, request: OutboxRequest, at_ms: int, session: str = "") -> Plan:
        """Accept a message from the agent to the user."""
        call = self._call("outbox", session or self.history.past.working_session, at_ms, request)
        self._record(call)
        return self._taken(call, (Answer(Accepted()),))

    def store(
        self,
        request: StoreRequest,
        records: Sequence[bytes],
        messages: Sequence[Message],
        at_ms: int,
        session: str = "",
    ) -> Plan:
        """Let the agent open, read or write its store. `records` holds the stored or written rows
        as bytes of the store; `messages` holds the written ones."""
        rows = tuple([self.history.note(message, at_ms) for message in messages])
        request = msgspec.structs.replace(request, rows=rows)
        call = self._call("store", session or self.history.past.working_session, at_ms, request)
        self._record(call)
        return self._answer(call, (*map(Send, records), Answer(Kept())))

    def refused(self, status: int, text: str, request: str, at_ms: int) -> None:
        """Record a request that a server refused; not all, for a client may send any number."""
        self._refusals += 1
        if self.history.events and self._refusals <= REFUSALS_MOST:
            self.history.refused(at_ms=at_ms, status=status, text=text, request=request)

    def is_faulty(self, seam: Seam) -> bool:
        """Whether a fault is armed: else no call of the store is seen, and no file of the agent."""
        return any(fault.seam == seam for fault in self.faults)

    def file_write(self, at_ms: int) -> Plan:
        """The kill at a write to the agent's own files, in place of the call that comes after it.

        The call is not recorded, because an agent that was killed at the write had not made it. So
        what the kill takes back is never what the agent relied on; other threads are killed too.
        """
        if self.file_kill != NO_KILL:
            return self._file_plan
        past = self.history.past
        where = past.working_session, past.turn(past.working_session), at_ms
        for number, how in enumerate(self.files() if self._file_faults else ()):
            self.file_writes += 1
            n, key = self.file_writes, f"{OWN_WRITE}{self.file_writes}"
            call = Call(key, "file", n, *where, StoreRequest("file", store=how))
            plan, _ = bend_all(self._file_faults, "value", call, self.history, self.draws, ())
            if kill := next((step for step in plan if isinstance(step, Kill)), None):
                self.file_kill, self._file_plan = (key, kill.unsynced, number), plan
                return plan
        return ()

    def _limit(self, call: Call) -> str:
        limits = self.scenario.limits
        if call.at_ms > limits.virtual_s * 1000:
            return "virtual_s"
        name, past = f"{call.seam}_calls", self.history.past
        most: int | None = getattr(limits, name, None)
        if most is not None and past.calls.get(call.seam, 0) > most:
            return name
        is_long = call.seam == "model" and past.turn_calls[call.session] > limits.turn_calls
        return "turn_calls" if is_long else ""

    def _taken(self, call: Call, plan: Plan) -> Plan:
        """The plan for an inbox or outbox call. These seams have no answer for a limit, so a limit
        stops the run."""
        if limit := self._limit(call):
            return self._answer(call, (STOP,), error=f"limit.{limit}")
        return self._answer(call, plan)

    def _answer(
        self, call: Call, scripted: Plan, *, turn: int | None = None, error: str = ""
    ) -> Plan:
        faults = () if error.startswith("limit.") else self.faults
        bend = partial(bend_all, faults, call=call, history=self.history, draws=self.draws)
        bent, by_value = bend(stage="value", plan=scripted)
        plan, by_bytes = bend(stage="bytes", plan=bent)
        turn = turn if is_consumed(scripted, bent, plan) else None
        faults_by = by_value + by_bytes
        return record_answer(self.history, call, plan, turn=turn, error=error, faults=faults_by)

    def _call(self, seam: Seam, session: str, at_ms: int, request: Request) -> Call:
        past = self.history.past
        n = past.calls[seam] + 1 if seam == "inbox" else past.next_index(session, seam)
        key = f"{session or 'main'}/{seam}#{n}"
        works = isinstance(request, ToolRequest) or getattr(request, "closes", False)
        turn = past.turn_of_call(session, request) if works else past.turn(session)
        return Call(key, seam, n, session, turn, at_ms, request)

    def _record(self, call: Call) -> None:
        self.look(call.at_ms)
        self.history.called(
            key=call.key, seam=call.seam, request=call.request,
            at_ms=call.at_ms, session=call.session, turn=call.turn,
        )  # fmt: skip


def _unseen(at_ms: int) -> None:
    """The `look` of a run whose store the harness cannot read."""
