"""A session store under fault: a real store, on a disk or behind a lock that fails it.

Each call of the agent asks for its plan and orders the steps. A write's plan sends the row and
answers that it is kept; an opening's plan sends what is stored. A call outside the session store
protocol passes unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from harness.core.values.calls import Access, StoreRequest
from harness.core.values.messages import Message
from harness.core.values.plans import Answer, Kept, Kill, Plan, Raise, Send, Step
from harness.stores.session_facts import Fact, RowFact, SummaryFact, encode, facts_of
from harness.stores.session_store import SessionStore, no_commit_hook

CarryOut = Callable[[Step], None]
"""Carries out a step that says nothing to the agent: wait, jump, kill."""


class WriteSteps(NamedTuple):
    """The steps of a write, in order.

    `before` a byte is written; what is `sent`; `inside`, when it is written and does not count yet;
    how it is `kept`, None when it never counts; `after`, when its caller does not know it yet.
    """

    before: tuple[Step, ...] = ()
    sent: tuple[bytes, ...] = ()
    inside: tuple[Step, ...] = ()
    kept: Kept | None = Kept()
    after: tuple[Step, ...] = ()

    @property
    def raised(self) -> str:
        """The name of the error with which the store fails; "" when it does not."""
        return next((s.error for s in (*self.before, *self.inside) if isinstance(s, Raise)), "")


class OwnWrite(NamedTuple):
    """What a store wants to write: its records, what is to be called once all of it is said and
    nothing of it counts, and the call that writes it."""

    records: Sequence[bytes]
    commit: Callable[[], None]
    call: Callable[[], Any]


def write_steps(plan: Plan) -> WriteSteps:
    """The steps of a plan."""
    before: list[Step] = []
    inside: list[Step] = []
    after: list[Step] = []
    sent: list[bytes] = []
    kept: Kept | None = None
    for step in plan:
        if isinstance(step, Answer) and isinstance(step.value, Kept):
            kept = step.value
        elif isinstance(step, Send):
            sent.append(step.data)
        else:
            (after if kept else inside if sent else before).append(step)
    return WriteSteps(tuple(before), tuple(sent), tuple(inside), kept, tuple(after))


def unsynced_loss(step: Step) -> str:
    """What a step does to unsynced writes, when it is the end of the machine; else ""."""
    return step.unsynced if isinstance(step, Kill) and step.unsynced != "kept" else ""


Ask = Callable[[StoreRequest, Sequence[bytes], Sequence[Message], str], Plan]
"""`(request, records, messages, session) -> plan`."""

READS = ("pending", "load", "rows")


class Medium(Protocol):
    """What a store writes on, as far as it can fail; a kind of store says how."""

    store: Any
    path: str
    plain_step: CarryOut

    def records(self) -> list[bytes]:
        """What the file holds, one record a row, in the form of `session_facts`."""

    def lay(self, records: Sequence[bytes]) -> None:
        """Make the file of a closed store hold these records, damaged or not."""

    def error(self, name: str) -> Exception:
        """What the store's library raises for an error of that name."""

    def lose(self, unsynced: str) -> None:
        """Leave of the file what a failure of the machine leaves of it; `unsynced` says how."""

    def write_own(self, steps: WriteSteps, own: OwnWrite) -> Any:
        """Write what is the store's own as the steps say. Raises the library's errors."""

    def read(self, steps: WriteSteps, call: Callable[[], Any]) -> Any:
        """Read, by `call`, unless the disk cannot."""
        self.carry_out(steps.before)
        result = call()
        self.carry_out(steps.after)
        return result

    def carry_out(self, steps: Iterable[Step]) -> None:
        """Carry out steps that are not bytes. Raises the library's errors."""
        for step in steps:
            if isinstance(step, Raise):
                raise self.error(step.error)
            if unsynced := unsynced_loss(step):
                self.lose(unsynced)
            self.plain_step(step)


class FaultyStore:
    """A session store on a faulty medium."""

    def __init__(self, store: SessionStore, medium: Medium, ask: Ask) -> None:
        self._store, self._medium, self._ask = store, medium, ask
        self.at_commit: Callable[[], None] = no_commit_hook

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name in facts_of:
            return self._writing(name, found)
        return self._reading(name, found) if name in READS else found

    def _writing(self, name: str, write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if name == "seed":
                arguments = (arguments[0], list(arguments[1]))
            facts = facts_of[name](*arguments, **named)
            records = tuple(map(encode, facts))
            session = facts[0].session if facts else ""
            steps = self._planned(name, "write", records, facts, session)
            own = OwnWrite(records, lambda: self.at_commit(), lambda: write(*arguments, **named))
            return self._medium.write_own(steps, own)

        return call

    def _reading(self, name: str, read: Callable[..., Any]) -> Callable[..., Any]:
        def call(session: str = "") -> Any:
            steps = self._planned(name, "read", (), (), session)
            return self._medium.read(steps, lambda: read(*([session] if session else [])))

        return call

    def _planned(
        self, name: str, access: Access, records: Sequence[bytes], facts: Sequence[Fact],
        session: str,
    ) -> WriteSteps:  # fmt: skip
        messages = [f.message for f in facts if isinstance(f, RowFact | SummaryFact)]
        request = StoreRequest(name, access=access, store=self._store.name)
        return write_steps(self._ask(request, records, messages, session))
