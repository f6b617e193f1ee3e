"""An agent with a session as a state machine: Hypothesis looks for steps that break an invariant.

    SessionTest = session_machine(my_agent).TestCase        # for pytest or unittest

Invariants are checked after each step. The harness's checks hold on every prefix, so judging them
at the agent's end loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, ClassVar

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from harness.checks.judge import judge
from harness.core.scenario.scenario import InboxItem, Turn
from harness.core.values.messages import (
    Json,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    results,
    user,
)
from harness.core.values.plans import ApiError
from harness.fuzz.machines.machine_world import GATED, MOST_REFUSALS, MachineWorld, Said
from harness.fuzz.machines.session_invariants import InvariantViolation, SessionInvariants
from harness.fuzz.script_grammar import TURNS
from harness.fuzz.text_grammar import BLANKS, WORDS
from harness.stores.opening import OpenStore, open_scratch
from harness.stores.store_writes import MOMENTS
from harness.targets import TargetSpec, of_callable

WINDOWS = (None, 2_000, 400)
FAILURES: tuple[ApiError, ...] = (
    ApiError(529, "overloaded_error", "Overloaded"),
    ApiError(500, "api_error", "Internal server error"),
    ApiError(429, "rate_limit_error", "This request would exceed your rate limit"),
    ApiError(400, "invalid_request_error", "Your credit balance is too low"),
)
TOO_LONG = ApiError(
    400, "invalid_request_error", "prompt is too long: 208380 tokens > 200000 maximum"
)

DAMAGE: tuple[tuple[Message, ...], ...] = (
    (user("Hello?"),),
    (Message("assistant", (ToolUse("open_1", "ping", {}),)),),
    (results(ToolResult("gone_1", "found")),),
    (Message("assistant"),),
    (Message("assistant", (Text(" \n"),)),),
    (Message("assistant", (Thinking("Hm.", "c2lnbmVk"),)),),
    (user("Hello?"), user("Hello?")),
)
"""The damage that an older version, or a crash, leaves at the end of a stored session."""

JUDGED = frozenset(
    {
        *("valid_request", "role_alternation", "tool_pairing", "unique_tool_ids"),
        *("nonblank_content", "append_only_prefix", "history_faithful", "request_fits"),
        *("reload_equivalence", "durable_first", "no_silent_loss", "inbound_exactly_once"),
        *("effect_once", "args_complete", "error_visible", "cancel_honoured", "bounded_turn"),
        *("compaction_preserves", "compaction_progress", "approval"),
    }
)
"""The checks on a whole history: on requests, on tool runs, on stored messages, and on
compactions. Retries are left to scenarios, which define why a provider failed."""


def turns_of(numbers: Sequence[int]) -> tuple[Turn, ...]:
    """Return the turns of pairs of numbers, each a kind of turn and its text."""
    return tuple(TURNS[n % len(TURNS)](n // len(TURNS)) for n in numbers)


TEXTS = (*WORDS, *BLANKS)

_TEXT = st.integers(0, len(TEXTS) - 1)
_TURN = st.integers(0, len(TURNS) * len(WORDS) - 1)
_TURNS = st.lists(_TURN, min_size=1, max_size=3)
_SIDE = st.sampled_from(("main", "main", "side"))
_INSTANCE = st.integers(0, 1)
_GATED = st.lists(st.sampled_from(tuple(GATED)), min_size=1, max_size=3, unique=True)


class SessionMachine(RuleBasedStateMachine):
    """The machine of one agent; `session_machine` makes the class."""

    target: ClassVar[TargetSpec]
    own: ClassVar[str] = ""
    opener: ClassVar[OpenStore] = staticmethod(open_scratch)
    approvals: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[InboxItem] = []
        self.world: MachineWorld | None = None
        self.broken = self.is_odd = False
        self.asked = 0

    @initialize(window=st.sampled_from(WINDOWS))
    def begin(self, window: int | None) -> None:
        """The agent starts on an empty session."""
        self.world = MachineWorld(
            self.target,
            window_tokens=None if self.approvals else window,
            store=self.own,
            opener=type(self).opener,
            approvals=self.approvals,
        )
        self.session_invariants = SessionInvariants(self.world.history)
        self.world.start()

    @rule(text=_TEXT, session=_SIDE, instance=_INSTANCE)
    def inbound(self, text: int, session: str, instance: int) -> None:
        """A message comes, and is answered."""
        self._send(text, session=session, instance=instance)

    @rule(back=st.integers(0, 3), instance=_INSTANCE)
    @precondition(lambda self: self.sent)
    def inbound_again(self, back: int, instance: int) -> None:
        """One of the last messages comes again."""
        self._there.deliver(self.sent[-1 - back % len(self.sent)], instance=instance)

    @rule(turns=_TURNS, text=_TEXT, session=_SIDE)
    def tool_round(self, turns: list[int], text: int, session: str) -> None:
        """A message, and a model that calls tools or gives odd answers."""
        self._send(text, turns_of(turns), session)

    @rule(failure=st.sampled_from(FAILURES), times=st.integers(1, 5), turns=_TURNS, text=_TEXT)
    def failed_turn(self, failure: ApiError, times: int, turns: list[int], text: int) -> None:
        """A message, and a provider that fails after the first turns."""
        self._send(text, (*turns_of(turns[1:]), *[failure] * times))

    @rule(turns=_TURNS, text=_TEXT)
    def compaction(self, turns: list[int], text: int) -> None:
        """A message, and a conversation that is now too long."""
        self._send(text, (*turns_of(turns[1:]), TOO_LONG))

    @rule(turns=_TURNS, text=_TEXT, after=st.integers(1, 2))
    def interrupt(self, turns: list[int], text: int, after: int) -> None:
        """A message, and the user cancels it after some answers."""
        asked = self._there.history.past.next_index("main", "model") + after - 1
        cancel = InboxItem(id=self._name(), kind="cancel", when={"after": f"main/model#{asked}"})
        self._send(text, (Turn(use="ping"), *turns_of(turns)), "main", 0, cancel)

    @rule(tools=_GATED, dies=st.booleans(), text=_TEXT)
    @precondition(lambda self: self.approvals)
    def gated_calls(self, tools: list[str], dies: bool, text: int) -> None:
        """A message, and calls that the user allows, denies, or allows late; the agent may be
        killed while it waits for an answer."""
        self.asked += 1
        blocks = tuple(_gated_use(tool, self.asked) for tool in tools)
        self._there.dies_at_question = dies
        self._send(text, (Turn(blocks=blocks),))
        self._there.dies_at_question = False

    @rule(tools=_GATED, text=_TEXT)
    @precondition(lambda self: self.approvals)
    def stopped_beside_gated_calls(self, tools: list[str], text: int) -> None:
        """A message, and the user stops the turn after the model has called."""
        self.asked += 1
        number = self._there.history.past.next_index("main", "model")
        cancel = InboxItem(id=self._name(), kind="cancel", when={"after": f"main/model#{number}"})
        blocks = tuple(_gated_use(tool, self.asked) for tool in tools)
        self._send(text, (Turn(blocks=blocks),), "main", 0, cancel)

    @rule(write=st.integers(1, 8), moment=st.sampled_from(MOMENTS), turns=_TURNS, text=_TEXT)
    @precondition(lambda self: not self.own)
    def crash_at_a_write(self, write: int, moment: Any, turns: list[int], text: int) -> None:
        """A message, and the agent is killed at a write of its store, then restarted."""
        self._there.writes_left, self._there.moment = write, moment
        self._send(text, turns_of(turns[1:]))
        self._there.writes_left = 0

    @rule(row=st.integers(1, 3), times=st.integers(1, MOST_REFUSALS), turns=_TURNS, text=_TEXT)
    @precondition(lambda self: not self.own)
    def store_refuses(self, row: int, times: int, turns: list[int], text: int) -> None:
        """A message, and from some row of its turn on the store refuses a few times."""
        self._there.refusals.begin(row, times)
        self._send(text, turns_of(turns))
        self._there.refusals.end()

    @rule()
    def crash(self) -> None:
        """Every instance is killed at rest, and one is started again."""
        self._there.kill()
        self._there.start()

    @rule()
    def restart(self) -> None:
        """Every instance ends in order, and one is started again."""
        self._end()
        self._there.start()

    @rule()
    @precondition(lambda self: len(self._there.instances) < 2 and not self._there.is_asynchronous)
    def second_instance(self) -> None:
        """Another instance starts beside the first."""
        self.is_odd = True
        self._there.start()

    @rule()
    @precondition(lambda self: self.session_invariants.watches_rows and not self.own)
    def reload(self) -> None:
        """A newly opened store returns the rows that were written."""
        found = [(row.id, row.digest) for row, _ in self._read()]
        if found != list(self.session_invariants.rows.items()):
            text = f"read again: {found}, written: {self.session_invariants.rows}"
            raise InvariantViolation("reload", text)

    @rule(damage=st.sampled_from(DAMAGE))
    @precondition(lambda self: self.session_invariants.watches_rows and not self.own)
    def repair(self, damage: Sequence[Message]) -> None:
        """The agent starts on a session that is damaged at its end."""
        self._end()
        self.is_odd = True
        self.session_invariants.forget_beginnings()
        with closing(type(self).opener(self.target.options, self._there.folder)) as store:
            for message in damage:
                store.append("main", message)
        self._there.start()

    @invariant()
    def keeps_its_promises(self) -> None:
        """After every step."""
        if self.world is not None:
            self._ask(self.session_invariants.new())
            self._ask(_ended(self.world))
            self._ask(self.session_invariants.at_rest())

    def teardown(self) -> None:
        """The last instance ends in order, and its history is judged."""
        if self.world is None:
            return
        try:
            if not self.broken:
                self._end()
        finally:
            self.world.close()

    @property
    def _there(self) -> MachineWorld:
        assert self.world is not None
        return self.world

    def _name(self) -> str:
        return f"m{len(self._there.items) + 1}"

    def _send(
        self,
        text: int,
        turns: Sequence[Said] = (),
        session: str = "main",
        instance: int = 0,
        *more: InboxItem,
    ) -> None:
        item = InboxItem(id=f"{self._name()}-{session}", text=TEXTS[text], session=session)
        self.sent.append(item)
        self._there.deliver(item, *more, turns=turns, instance=instance)

    def _read(self) -> list[tuple[Any, Message]]:
        with closing(type(self).opener(self.target.options, self._there.folder)) as store:
            return list(store.read())

    def _end(self) -> None:
        """All instances end; a finding of the checks in the whole history is a violation."""
        self._there.let_go()
        self._ask(self.session_invariants.new())
        if not self.is_odd:
            found = judge(self._there.history).failing
            self._ask(InvariantViolation(f.code, f) for f in found if f.check in JUDGED)

    def _ask(self, broken: Iterator[InvariantViolation]) -> None:
        for violation in broken:
            self.broken = True
            raise violation


def _gated_use(tool: str, number: int) -> dict[str, Json]:
    return {"type": "tool_use", "name": tool, "input": {"number": number}}


def _ended(world: MachineWorld) -> Iterator[InvariantViolation]:
    """Return agents that ended although their inbox is open."""
    for instance, _ in world.instances:
        if instance.is_over:
            text = instance.crash or "it returned before its inbox ended"
            yield InvariantViolation("target.crashed", text)


def session_machine(
    agent: Callable[..., Any] | TargetSpec,
    *,
    options: Mapping[str, Json] | None = None,
    store: str = "",
    opener: OpenStore = open_scratch,
    approvals: bool = False,
) -> type[SessionMachine]:
    """The machine of an agent, a function of a brief; `.TestCase` is what pytest collects.

    `options` reach the agent as `brief.options`. `store` names the agent's own store as READER:PATH
    below its session folder; without it the agent uses `brief.store`, which `opener` opens, and
    kills at a write, reloads and repairs are steps, too. With `approvals` the model calls tools
    that need the user's approval.
    """
    target = agent if isinstance(agent, TargetSpec) else of_callable(agent)
    spec = msgspec.structs.replace(target, options={**target.options, **(options or {})})
    members = {"target": spec, "own": store, "opener": staticmethod(opener)}
    members["approvals"] = approvals
    return type("SessionMachine", (SessionMachine,), members)
