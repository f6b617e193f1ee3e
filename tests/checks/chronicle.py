"""What every history in the making is built on: events on a clock, and for a story also the live
messages that become rows."""

from __future__ import annotations

from typing import Any, Self

from harness.core.history.events import StoredRow
from harness.core.history.history import History
from harness.core.values.messages import Message

ALL_SEAMS = ("model", "tool", "inbox", "outbox", "store")

LIST_FILES = {"type": "object", "properties": {"path": {"type": "string"}}}
WRITE = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = {"list": LIST_FILES, "write": WRITE, "poll": {"type": "object", "properties": {}}}


class Timeline:
    """The events of a history, and the time; every verb returns it."""

    def __init__(self) -> None:
        self.history = History()
        self.at_ms = 0
        self.session = "main"

    def of(self, session: str) -> Self:
        """What follows is of this session."""
        self.session = session
        return self

    def _where(self, session: str = "") -> dict[str, Any]:
        session = session or self.session
        turn = self.history.past.turn(session)
        return {"at_ms": self.at_ms, "session": session, "turn": turn}

    def _key(self, seam: Any, session: str = "") -> str:
        session = session or self.session
        return f"{session}/{seam}#{self.history.past.next_index(session, seam)}"

    @property
    def last(self) -> int:
        """The number of the last event."""
        return len(self.history.events)

    @property
    def called(self) -> int:
        """The number of the last call."""
        return max(e.n for e in self.history.events if type(e).__name__ == "Called")


class Chronicle(Timeline):
    """A history of one session, and what it stores."""

    def __init__(
        self,
        *,
        seams: tuple[str, ...] = ALL_SEAMS,
        world: str = "simulate",
        stores: bool = True,
        settings: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.live: list[Message] = []
        self.stores = stores and "store" in seams
        self._stored = self._rows = 0
        self._inbound: dict[int, str] = {}
        self.history.started(
            run="story", scenario="story", world=world, seams=seams,
            settings={"tools": TOOLS, **(settings or {})},
        )  # fmt: skip

    def wait(self, ms: int) -> Self:
        """Time passes."""
        self.at_ms += ms
        return self

    def _flush(self) -> None:
        """Store what is not stored yet."""
        if not self.stores or self._stored == len(self.live):
            return
        fresh = list(enumerate(self.live))[self._stored :]
        self._stored = len(self.live)
        self.row(
            *(message for _, message in fresh), labels=[self._inbound.get(i, "") for i, _ in fresh]
        )

    def row(
        self,
        *messages: Message,
        labels: list[str] | None = None,
        durable: bool = True,
        session: str = "",
    ) -> Self:
        """Rows are stored; of a session, where the store tells it."""
        rows = []
        for message, label in zip(messages, labels or [""] * len(messages), strict=True):
            self._rows += 1
            name = self.history.note(message, self.at_ms)
            rows.append(StoredRow(f"r{self._rows}", name, label, session))
        self.history.stored(**self._where(), store="sqlite", added=tuple(rows), durable=durable)
        return self

    def gone(self, *rows: str) -> Self:
        """Rows vanish."""
        self.history.stored(**self._where(), store="sqlite", gone=rows)
        return self

    def change(self, row: str, message: Message) -> Self:
        """A row says something else."""
        changed = (StoredRow(row, self.history.note(message, self.at_ms)),)
        self.history.stored(**self._where(), store="sqlite", changed=changed)
        return self

    def killed(self, at: str = "main/model#1") -> Self:
        """The target is killed and starts again."""
        self.history.killed(at_ms=self.at_ms, at=at)
        return self

    def end(self, how: str = "returned", **fields: Any) -> History:
        """The run ends."""
        self._flush()
        self.history.ended(at_ms=self.at_ms, how=how, **fields)
        return self.history
