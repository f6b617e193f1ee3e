"""The world of an agent that is driven step by step: inbox, model, tools, store, agent threads.

A message comes with the model's turns for it, and drops unplayed ones of the message before. With
no turn left, the model says "Done.".

A store fault would send reads across the seam too, which halves the speed of a machine. Here only
refused writes cross it. They record the refused row, so the checks know which row may be lost.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from harness.clock import VirtualClock
from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario import inbox
from harness.core.scenario.scenario import (
    ApprovalTurn,
    InboxItem,
    Limits,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.scenario.script import TurnScript
from harness.core.values.calls import Approval, Call, Inbound, StoreRequest
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, Message
from harness.core.values.plans import ApiError, Plan, Value
from harness.files.owner import make_scratch
from harness.fuzz.machines.agent_thread import AgentThread
from harness.fuzz.script_grammar import SUMMARY, TOOLS
from harness.runner import prepare
from harness.runner.python_attempt import downtime_ms
from harness.runner.store_watch import OwnStore, StoreWatch
from harness.stores.opening import OpenStore, open_reader, open_scratch
from harness.stores.session_store import SessionStore
from harness.stores.store_writes import Moment, WatchedStore
from harness.targets import End, TargetSpec
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief

NAME = "session-machine"
DONE = Turn(say="Done.")
FOUND = (ToolTurn(ok="found", times="forever"),)
LIMITS = Limits.unreached(virtual_s=1e9)
"""Hypothesis decides how many steps a run has. The only limit is for an agent that ends no turn:
`CALLS_A_STEP`."""

GATED: dict[str, ApprovalTurn] = {
    "pay": ApprovalTurn(),
    "delete": ApprovalTurn(answer="deny", reason="The audit needs it."),
    "publish": ApprovalTurn(after_s=300),
    "post": ApprovalTurn(answer="always"),
}
"""The tools of a machine with approvals: the user's answer to each question about a call. An answer
for good needs no script that grows, and the smallest example names it by its tool."""

CALLS_A_STEP = 300
"""Model calls in one step after which an agent counts as one that does not end its turn."""

Said = Turn | ApiError


class GrowingScript:
    """A script that grows; a scripted error replaces the answer to a call."""

    def __init__(self) -> None:
        self._said: deque[Said] = deque()
        self._draws, self._numbers = Draws(0), count(1)
        self.calls = 0

    def say(self, turns: Sequence[Said]) -> None:
        """Set the model's turns from now on, before it says "Done."."""
        self._said, self.calls = deque(turns), 0

    def reply(self, call: Call, past: Past) -> tuple[Value, int] | None:
        """Return the next answer; None, the end of the script, after `CALLS_A_STEP` calls."""
        self.calls += 1
        if self.calls > CALLS_A_STEP:
            return None
        if call.purpose == "compact":
            return self._answer(SUMMARY, call)
        turn = self._said.popleft() if self._said else DONE
        if isinstance(turn, ApiError):
            return turn, next(self._numbers)
        return self._answer(turn, call)

    def _answer(self, turn: Turn, call: Call) -> tuple[Value, int] | None:
        found = TurnScript((turn,), self._draws).reply(call, _NOTHING)
        return found and (found[0], next(self._numbers))

    def unplayed(self, past: Past) -> Iterator[str]:
        """Return no turns, because each turn is optional."""
        yield from ()


_NOTHING = Past()


def _gated(name: str, answer: ApprovalTurn) -> ToolScript:
    done = ToolTurn(ok=f"{name}: done", effect=name, times="forever")
    schema: dict[str, Json] = {"type": "object", "properties": {"number": {"type": "integer"}}}
    return ToolScript(input_schema=schema, script=(done,), approval=(answer,))


MOST_REFUSALS = 6
"""More refusals than an agent's tries of one write, and too few to lose all rows of a turn."""

KIND = "persistence.locked"


class WriteRefusals:
    """Counts rows, and refuses some writes."""

    def __init__(self, history: History, clock: VirtualClock) -> None:
        self._history, self._clock = history, clock
        self._passing = self._left = 0

    def begin(self, first: int, times: int) -> None:
        """Refuse rows from the `first` one on (from 1), `times` times."""
        self._passing, self._left = first - 1, times

    def end(self) -> None:
        """Refuse no more."""
        self._left = 0

    def meet(self, arguments: tuple[Any, ...]) -> None:
        """Count appended rows. Raises the error of the store's library for a refused one."""
        if self._left and self._passing:
            self._passing -= 1
        elif self._left:
            self._left -= 1
            self._record(arguments)
            raise sqlite3.OperationalError("database is locked")

    def _record(self, arguments: tuple[Any, ...]) -> None:
        past, at_ms = self._history.past, self._clock.now_ms()
        messages = [given for given in arguments if isinstance(given, Message)]
        rows = tuple(self._history.note(message, at_ms) for message in messages)
        session = past.working_session
        turn, number = past.turn(session), past.next_index(session, "store")
        key = f"{session or 'main'}/store#{number}"
        request = StoreRequest("append", rows)
        self._history.called(
            key=key, seam="store", request=request, at_ms=at_ms, session=session, turn=turn
        )
        self._history.answered(
            key, "store", at_ms, session, turn, faults=(KIND,), outcome="error", complete=False
        )


class RefusingStore:
    """A session store that may refuse rows of a running turn.

    If a message or its reply cannot be stored, the user gets a notice. The message may then be
    redelivered or resumed by a later instance; scenarios judge that.
    """

    def __init__(self, store: Any, refusals: WriteRefusals) -> None:
        self._store, self._refusals = store, refusals

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, *arguments: Any) -> Any:
        """Store a row, unless it is refused."""
        self._refusals.meet(arguments)
        return self._store.append(*arguments)


class ParkedBrief(InProcessBrief):
    """A brief whose agent waits in its inbox until there is a message for it."""

    def __init__(
        self,
        world: MachineWorld,
        place: Callable[[], AgentThread],
        dispatcher: Dispatcher,
        **parts: Any,
    ) -> None:
        super().__init__(dispatcher, world.folder, **parts)
        self._world, self._place = world, place

    def _approval(self, plan: Plan) -> Approval:
        """The user's answer; an agent that dies here was asked for, and does not know it."""
        self._place().check()
        if self._world.dies_at_question:
            self._world.dies_at_question = False
            self._place().die()
        return super()._approval(plan)

    def inbox(self, *, cancels: bool = False) -> Iterator[Inbound]:
        """Yield the messages as they come; end when the world releases the agent."""
        while True:
            while not (self._world.is_due or self._world.is_closing or self._place().is_dying):
                self._place().wait()
            inbound = self._next_inbound(cancels)
            self._place().check()
            if inbound is None:
                return
            if cancels or inbound.kind == "message":
                yield inbound


class MachineWorld:
    """The world of one example of a machine. `close` it at the end.

    `store` names the agent's own store as READER:PATH, else it is the brief's, opened by `opener`.
    `approvals`: there are tools whose calls need the user's approval.
    """

    def __init__(
        self,
        target: TargetSpec,
        *,
        window_tokens: int | None = None,
        store: str = "",
        opener: OpenStore = open_scratch,
        approvals: bool = False,
    ) -> None:
        self.folder = make_scratch()
        self.target, self.own, self.opener = target, store, opener
        self.script, self.clock = GrowingScript(), VirtualClock(limit_s=LIMITS.virtual_s)
        scripts = {
            name: ToolScript(input_schema=dict(schema), script=FOUND)
            for name, schema in TOOLS.items()
        }
        if approvals:
            scripts |= {name: _gated(name, answer) for name, answer in GATED.items()}
        scenario = Scenario(
            name=NAME, window_tokens=window_tokens, tools=scripts, limits=LIMITS,
            stream=bool(target.options.get("stream", False)),
        )  # fmt: skip
        self.transition = prepare.transition_for(scenario, self.script)
        self.refusals = WriteRefusals(self.history, self.clock)
        self.items: list[InboxItem] = []
        self.instances: list[tuple[AgentThread, OwnStore]] = []
        self.attempts, self.writes_left = count(), 0
        self.moment: Moment = "before"
        self.is_down = self.is_closing = self.dies_at_question = False

    @property
    def history(self) -> History:
        """The history so far."""
        return self.transition.history

    @property
    def is_due(self) -> bool:
        """Whether a message can be delivered now."""
        past = self.history.past
        return inbox.due(self.transition.inbox, past, self.clock.now_ms(), busy=False) is not None

    @property
    def is_asynchronous(self) -> bool:
        """Whether an event loop drives the clock; a clock has at most one."""
        return any(instance.is_asynchronous for instance, _ in self.instances)

    def start(self) -> None:
        """Start another instance of the agent, beside the running ones."""
        number = next(self.attempts)
        down_ms = downtime_ms(self.transition.scenario, number) if self.is_down else 0
        self.is_down = False
        self.clock.pass_downtime(down_ms)
        own_store = bool(self.own)
        prepare.start(
            self.transition, self.target, "simulate", number, own_store, downtime_ms=down_ms
        )
        if self.own:
            self.transition.look = StoreWatch(open_reader(self.own, self.folder), self.history).look
        dispatcher = Dispatcher(self.transition, self.clock)
        own = OwnStore(
            self.transition, self.folder, (), self.target.options, self._watched, self.opener
        )
        brief = ParkedBrief(
            self,
            lambda: instance,
            dispatcher,
            options=self.target.options,
            open_store=lambda: own.open(dispatcher),
        )
        agent = self.target.agent
        assert agent is not None
        instance = AgentThread(lambda: agent(brief), self.clock)
        self.instances.append((instance, own))
        self.go_on(instance)

    def _watched(self, store: SessionStore) -> SessionStore:
        def tell(write: str, moment: Moment) -> None:
            instance = next(instance for instance, _ in self.instances if instance.is_running)
            instance.check()
            if self.writes_left and moment == self.moment:
                self.writes_left -= 1
                if not self.writes_left:
                    instance.die()

        watched = WatchedStore(store, tell, lambda write, arguments, result: None)
        refusing: Any = RefusingStore(watched, self.refusals)
        return refusing  # type: ignore[no-any-return]

    def go_on(self, instance: AgentThread) -> None:
        """Let an instance run until it waits; start another one if it dies."""
        instance.go_on()
        self.transition.look(self.clock.now_ms())
        if instance.is_dying:
            self.bury(instance)
            self.start()

    def bury(self, instance: AgentThread) -> None:
        """Record that an instance was killed, and close its store."""
        for alive, own in list(self.instances):
            if alive is instance:
                self.instances.remove((alive, own))
                own.close()
        self.writes_left = 0
        self.is_down = True
        self.history.killed(at_ms=self.clock.now_ms(), at="")

    def deliver(self, *items: InboxItem, turns: Sequence[Said] = (), instance: int = 0) -> None:
        """Deliver messages, and let an instance run until it waits for more."""
        self.items += items
        self.transition.inbox = inbox.Inbox(inbox.entries(self.items))
        self.script.say(turns)
        self.go_on(self.instances[instance % len(self.instances)][0])

    def kill(self) -> None:
        """Kill all waiting instances.

        Each has asked for the next message, which confirms the one before.
        """
        for instance, _ in list(self.instances):
            instance.end()
            self.bury(instance)

    def let_go(self) -> None:
        """End the inbox for all instances, so they end in order."""
        self.is_closing = True
        for instance, own in self.instances:
            instance.go_on()
            own.close()
        self.instances, self.is_closing = [], False
        prepare.end(self.transition, End("returned", 0), self.clock.now_ms())

    def close(self) -> None:
        """Close all instances, stores and folders."""
        for instance, own in self.instances:
            instance.end()
            own.close()
        shutil.rmtree(self.folder, ignore_errors=True)
