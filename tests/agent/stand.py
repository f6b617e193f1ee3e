"""A brief made of real parts: the SDK on a scripted provider, an inbox and an outbox as lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anthropic

from harness.agent import build
from harness.core.values.brief import Tool
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from harness.stores.sqlite import SqliteStore
from tests.agent.provider import Provider
from tests.agent.replies import Wire
from tests.http_library import http


class Clock:
    """No time passes."""

    def now_ms(self) -> int:
        """Now."""
        return 0

    def sleep(self, seconds: float, /) -> None:
        """At once."""


class Stand:
    """A brief, and what came of it. `said` are the outbox's calls as dicts."""

    def __init__(self, folder: Path, replies: Sequence[Any], *inbox: Inbound | str) -> None:
        self.session_dir = folder
        self.clock = Clock()
        self.tools: list[Tool] = []
        self.options: dict[str, Any] = {}
        self.limits: dict[str, float] = {}
        self.wire, self.seed = "anthropic", 7
        self.base_url, self.api_key = "http://provider.test", "key"
        self.store: Any = SqliteStore(folder / "store.db")
        self.transport = self.async_transport = None
        self.provider = Provider(replies)
        self.messages = [
            m if isinstance(m, Inbound) else Inbound(f"m{n}", text=m)
            for n, m in enumerate(inbox, start=1)
        ]
        self.said: list[Wire] = []
        self.calls: list[tuple[str, Any]] = []
        self.is_cancelled: Callable[[], bool] = lambda: False

    def tool(self, name: str, answer: Any, required: Sequence[str] = ()) -> None:
        """Add a tool: `answer` is returned, raised, or called with the input."""

        def call(input: Any, id: str) -> Any:
            self.calls.append((name, input))
            said = answer(input) if callable(answer) else answer
            if isinstance(said, Exception):
                raise said
            return said

        properties = {key: {"type": "string"} for key in required}
        schema = {"type": "object", "properties": properties, "required": list(required)}
        self.tools.append(Tool(name, f"The tool {name}", schema, call))

    def anthropic(self, **settings: Any) -> anthropic.Anthropic:
        """The SDK's client on the scripted provider; its retries would only cost time here."""
        transport = http.MockTransport(self.provider)
        return anthropic.Anthropic(
            api_key=self.api_key,
            base_url=self.base_url,
            http_client=http.Client(transport=transport),
            max_retries=0,
            **settings,
        )

    def openai(self, **settings: Any) -> Any:
        """Not used."""
        raise NotImplementedError

    def inbox(self, *, cancels: bool = False) -> Iterator[Inbound]:
        """The messages."""
        yield from self.messages

    def cancelled(self, session: str = "main") -> bool:
        """As the test says."""
        return self.is_cancelled()

    def send(
        self,
        text: str,
        kind: str = "final",
        session: str | None = None,
        in_reply_to: str | None = None,
        status: str | None = None,
    ) -> None:
        """Note what was said."""
        said = {"text": text, "kind": kind, "session": session, "to": in_reply_to}
        self.said.append({**said, "status": status})

    def run(self, **parts: Any) -> Stand:
        """Run the agent, and check every request that it made."""
        build(self, **parts).run()
        if self.provider.violations:
            raise AssertionError("\n".join(self.provider.violations))
        return self

    @property
    def ending(self) -> tuple[str, str, str]:
        """Kind, status and text of the only thing that was said, notices of compaction aside."""
        [said] = [said for said in self.said if said["kind"] != "compaction"]
        return said["kind"], said["status"], said["text"]

    def rows(self, session: str = "main") -> list[Message]:
        """What is stored."""
        return [row.message for row in self.store.rows(session)]

    @property
    def sides(self) -> str:
        """The roles of the stored rows, one letter each."""
        return "".join(message.role[0] for message in self.rows())
