"""The store as the agent gets it: each call asks for its plan, and carries it out.

A call that is not one of a session store's own goes through untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from harness.core.values.calls import Access, StoreRequest
from harness.core.values.messages import Message
from harness.core.values.plans import Plan
from harness.stores.facts import Fact, RowFact, Summarised, encode, said_by
from harness.stores.rows import SessionStore, unwatched
from harness.stores.shim.steps import Own, Steps, ordered

Ask = Callable[[StoreRequest, Sequence[bytes], Sequence[Message], str], Plan]
"""`(request, records, messages, session) -> plan`."""

READS = ("pending", "load", "rows")


class Medium(Protocol):
    """What a store writes on, as far as it can fail. Both raise the store library's own errors."""

    def read(self, steps: Steps, call: Callable[[], Any]) -> Any:
        """Read, by `call`, as the steps say."""
        ...

    def write(self, steps: Steps, own: Own) -> Any:
        """Write what is the store's own as the steps say."""
        ...


class FaultyStore:
    """A session store on a faulty medium."""

    def __init__(self, store: SessionStore, medium: Medium, ask: Ask) -> None:
        self._store, self._medium, self._ask = store, medium, ask
        self.at_commit: Callable[[], None] = unwatched

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name in said_by:
            return self._writing(name, found)
        return self._reading(name, found) if name in READS else found

    def _writing(self, name: str, write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if name == "seed":
                arguments = (arguments[0], list(arguments[1]))
            facts = said_by[name](*arguments, **named)
            records = tuple(map(encode, facts))
            session = facts[0].session if facts else ""
            steps = self._planned(name, "write", records, facts, session)
            own = Own(records, self._commit, lambda: write(*arguments, **named))
            return self._medium.write(steps, own)

        return call

    def _reading(self, name: str, read: Callable[..., Any]) -> Callable[..., Any]:
        def call(session: str = "") -> Any:
            steps = self._planned(name, "read", (), (), session)
            return self._medium.read(steps, lambda: read(*([session] if session else [])))

        return call

    def _planned(
        self, name: str, access: Access, records: Sequence[bytes], facts: Sequence[Fact],
        session: str,
    ) -> Steps:  # fmt: skip
        messages = [f.message for f in facts if isinstance(f, RowFact | Summarised)]
        request = StoreRequest(name, access=access, store=self._store.name)
        return ordered(self._ask(request, records, messages, session))

    def _commit(self) -> None:
        self.at_commit()
