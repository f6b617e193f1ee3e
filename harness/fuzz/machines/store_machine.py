"""A session store as a state machine, without an agent or a model.

    StoreTest = store_machine(lambda folder: MyStore(folder / "session.db")).TestCase

A store needs `append(session, message)` and `rows(session)`; other `SessionStore` methods are
tested if present. After each step the store, and a second instance, must match a list in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any, ClassVar

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from harness.core.values.calls import Inbound
from harness.core.values.messages import (
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.files.owner import make_scratch
from harness.fuzz.machines.agent_thread import Died
from harness.fuzz.machines.session_invariants import InvariantViolation
from harness.fuzz.text_grammar import BLANKS, WORDS, word
from harness.stores.session_store import no_commit_hook

OpenBareStore = Callable[[Path], Any]
"""`folder -> store`: opens the store, or makes it."""

SESSIONS = ("main", "side")
MESSAGES: tuple[Message, ...] = (
    user("hello"),
    assistant("Yes."),
    assistant(ToolUse("t1", "ping", {"name": word(7)})),
    results(ToolResult("t1", "found", is_error=True)),
    assistant(Thinking("Hm.", "c2lnbmVk"), Text(word(5))),
    *(user(text) for text in (*WORDS[5:], *BLANKS)),
    Message("user"),
)

_SESSION = st.sampled_from(SESSIONS)
_MESSAGE = st.sampled_from(MESSAGES)


class ExpectedSession(msgspec.Struct):
    """The expected content of one session, in memory."""

    messages: list[Message] = []
    names: list[str] = []
    open: list[str] = []
    summary: tuple[Message, int] | None = None

    def loaded(self) -> list[Message]:
        """The history as the store loads it."""
        if self.summary is None:
            return self.messages
        message, first = self.summary
        return [message, *self.messages[first:]]


class StoreMachine(RuleBasedStateMachine):
    """The machine of one store; `store_machine` makes the class."""

    open_store: ClassVar[OpenBareStore]

    def __init__(self) -> None:
        super().__init__()
        self.folder = make_scratch()
        self.store = self._opened()
        self.expected = {session: ExpectedSession() for session in SESSIONS}
        self.sent: list[Inbound] = []
        self._abandoned: list[Any] = []

    @rule(session=_SESSION, message=_MESSAGE)
    def append(self, session: str, message: Message) -> None:
        """A row is stored."""
        self._kept(session, message, self.store.append(session, message))

    @rule(session=_SESSION, text=st.integers(0, len(WORDS) - 1))
    @precondition(lambda self: hasattr(self.store, "accept"))
    def accept(self, session: str, text: int) -> None:
        """A message comes in."""
        inbound = Inbound(f"m{len(self.sent) + 1}", session, word(text))
        self.sent.append(inbound)
        if not self.store.accept(inbound, user(inbound.text)):
            raise InvariantViolation("stored_once", f"{inbound.id} is new and was not accepted")
        self._kept(session, user(inbound.text))
        self.expected[session].open.append(inbound.id)

    @rule(back=st.integers(0, 3))
    @precondition(lambda self: self.sent)
    def accept_again(self, back: int) -> None:
        """A message comes again, and is not accepted."""
        inbound = self.sent[-1 - back % len(self.sent)]
        if self.store.accept(inbound, user(inbound.text)):
            raise InvariantViolation("stored_once", f"{inbound.id} was accepted a second time")

    @rule(message=_MESSAGE)
    @precondition(lambda self: self._unanswered())
    def reply(self, message: Message) -> None:
        """The oldest open message is answered, and the reply leaves."""
        inbound = self._unanswered()[0]
        self._kept(
            inbound.session, message, self.store.reply(inbound, message, "completed", "final")
        )
        self.store.delivered(inbound)
        self.expected[inbound.session].open.remove(inbound.id)

    @rule(session=_SESSION, message=_MESSAGE, keep=st.integers(1, 3))
    @precondition(lambda self: hasattr(self.store, "summarise"))
    def summarise(self, session: str, message: Message, keep: int) -> None:
        """The history is loaded as a summary from now on."""
        expected = self.expected[session]
        names = [row.id for row in self.store.rows(session)]
        if names:
            first = max(0, len(names) - keep)
            self.store.summarise(session, message, names[first])
            expected.summary = (message, first)

    @rule(session=_SESSION, message=_MESSAGE)
    @precondition(lambda self: hasattr(self.store, "at_commit"))
    def crash_at_a_write(self, session: str, message: Message) -> None:
        """The process dies after a write and before its commit; the store is opened again."""
        self.store.at_commit = _die
        try:
            self.store.append(session, message)
        except Died:
            self.store.at_commit = no_commit_hook
            self.reopen()
        else:
            text = "a write ended without its moment before the commit"
            raise InvariantViolation("at_commit", text)

    @rule()
    def reopen(self) -> None:
        """The store is closed, if it can be, and opened again."""
        self._close(self.store)
        self.store = self._opened()

    @rule()
    def crash(self) -> None:
        """The process dies at rest, without closing the store."""
        self._abandoned.append(self.store)
        self.store = self._opened()

    @invariant()
    def keeps_what_it_was_told(self) -> None:
        """Compare the store with memory: the open instance, and a newly opened one."""
        anew = self._opened()
        try:
            for name, store in (("", self.store), (", opened again,", anew)):
                for broken in self._wrong(store, name):
                    raise broken
        finally:
            self._close(anew)

    def _wrong(self, store: Any, name: str) -> Iterator[InvariantViolation]:
        for session, expected in self.expected.items():
            rows = [row.message for row in store.rows(session)]
            if rows != expected.messages:
                text = f"{session}{name} has {rows}: {expected.messages}"
                yield InvariantViolation("stored_once", text)
            if hasattr(store, "load"):
                loaded = [row.message for row in store.load(session)]
                if loaded != expected.loaded():
                    text = f"{session}{name} loads {loaded}: {expected.loaded()}"
                    yield InvariantViolation("reload", text)
        if hasattr(store, "pending"):
            left = sorted(pending.inbound.id for pending in store.pending())
            want = sorted(n for expected in self.expected.values() for n in expected.open)
            if left != want:
                yield InvariantViolation("pending", f"pending{name} are {left}: {want}")

    def teardown(self) -> None:
        """Remove the files."""
        for store in (self.store, *self._abandoned):
            self._close(store)
        rmtree(self.folder, ignore_errors=True)

    def _opened(self) -> Any:
        return type(self).open_store(self.folder)

    def _kept(self, session: str, message: Message, name: object = "") -> None:
        expected = self.expected[session]
        expected.messages = [*expected.messages, message]
        if name and name in expected.names:
            raise InvariantViolation("stored_once", f"two rows of {session} have the id {name}")
        expected.names = [*expected.names, str(name)]

    def _unanswered(self) -> list[Inbound]:
        open = {name for expected in self.expected.values() for name in expected.open}
        return [inbound for inbound in self.sent if inbound.id in open]

    @staticmethod
    def _close(store: Any) -> None:
        getattr(store, "close", no_commit_hook)()


def _die() -> None:
    raise Died


def store_machine(open_store: OpenBareStore) -> type[StoreMachine]:
    """The machine of a store; `.TestCase` is what pytest collects.

    `open_store(folder)` opens the store of a folder, or makes it; it is called often.
    """
    return type("StoreMachine", (StoreMachine,), {"open_store": staticmethod(open_store)})
