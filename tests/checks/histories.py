"""Histories told as stories: what a run looks like, without a run.

    story = Story().turn("hello").reply("hi").final()

The live message list grows as an honest agent's would: inbound text, replies, tool results. Each
request sends all of it; each row is stored before it is needed. What a test wants wrong, it says.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.core.history.events import Called, Rare
from harness.core.values.calls import (
    ApprovalRequest,
    Inbound,
    InboxRequest,
    ModelRequest,
    OutboxRequest,
    ToolRequest,
)
from harness.core.values.messages import (
    Message,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.plans import ToolAnswer, Wait
from tests.checks.chronicle import TOOLS, Chronicle

RARE = tuple(Rare.__annotations__)


def use(name: str, value: Any = None, id: str = "") -> ToolUse:
    """A tool call; without an id the story numbers it."""
    return ToolUse(id, name, {} if value is None else value)


class Story(Chronicle):
    """A history in which an agent answers its user; every verb returns the story."""

    def __init__(self, **start: Any) -> None:
        super().__init__(**start)
        self._tools = 0
        self._sent: list[str] = []
        self.provider = self._last_key = ""
        self._results: list[ToolResult] = []
        self._asked: list[ToolUse] = []
        self._said = ""
        self._name = ""

    def take(
        self, text: str = "", name: str = "", kind: Any = "message", reader: bool = False,
        came_ms: int = 0, waits_ms: int = 0, pushed: bool = False,
    ) -> Story:  # fmt: skip
        """The agent takes an inbound message, and nothing else happens; a `reader` ends no turn.

        The message comes after `waits_ms`. A `pushed` cancel is told while the agent works.
        """
        self._flush()
        key, poll = self._key("inbox"), kind != "message"
        turn = self.history.past.turn(self.session) + (kind == "message" and not reader)
        self._name = name or (f"m{turn + reader}" if kind == "message" else "c1")
        asked = InboxRequest(poll=poll, reader=reader, pushed=pushed)
        self.history.called(**self._where(), key=key, seam="inbox", request=asked)
        inbound = Inbound(self._name, self.session, text, kind=kind, at_ms=came_ms)
        value = msgspec.to_builtins(inbound)
        where = {**self._where(), "turn": turn}
        steps = (Wait(waits_ms),) if waits_ms else ()
        self.history.answered(**where, key=key, seam="inbox", value=value, steps=steps)
        return self

    def turn(self, text: str, name: str = "") -> Story:
        """A turn begins: the agent takes a message and adds it to its list."""
        self.take(text, name)
        self._inbound[len(self.live)] = self._name
        self.live.append(user(text))
        self._said = ""
        return self

    def cancel(self) -> Story:
        """The user cancels, and the agent sees it."""
        return self.take(kind="cancel")

    def reply(
        self,
        *blocks: Any,
        stop: str | None = "",
        purpose: str = "main",
        messages: list[Message] | None = None,
        tools: bool = True,
        refused: tuple[str, ...] = (),
        status: int | None = 200,
        tokens: int = 0,
        size_bytes: int = 0,
        sdk_retry: int = 0,
        request: dict[str, Any] | None = None,
        **answer: Any,
    ) -> Story:
        """The agent asks the model, with its whole list or `messages`; the model says `blocks`.

        `request` are fields of the request that are not the usual ones.
        """
        self._join_results()
        self._flush()
        key = self._call(
            messages, purpose, tools, refused, (tokens, size_bytes), sdk_retry, request or {}
        )
        named = tuple(self._named(b) if isinstance(b, ToolUse) else b for b in blocks)
        said = assistant(*named)
        calls = said.tool_uses
        stop = stop if stop != "" else ("tool_use" if calls else "end_turn")
        failed = status is None or status >= 400
        answer = {"outcome": "error" if failed else "ok", "complete": not failed, **answer}
        if not failed:
            answer |= {"blocks": self.history.note(said, self.at_ms), "stop": stop}
        answer["rare"] = {name: answer.pop(name) for name in RARE if name in answer}
        self.history.answered(**self._where(), key=key, seam="model", status=status, **answer)
        if not failed and purpose == "main":
            self.live.append(said)
            self._asked, self._said = list(calls), said.text
        return self

    def fail(self, status: int = 400, error: str = "", **called: Any) -> Story:
        """The agent asks the model and is answered with an error."""
        return self.reply(status=status, error=error, **called)

    def _named(self, block: ToolUse) -> ToolUse:
        self._tools += 1
        return msgspec.structs.replace(block, id=block.id or f"t{self._tools}")

    def _call(
        self, messages: list[Message] | None, purpose: str, tools: bool,
        refused: tuple[str, ...], size: tuple[int, int], sdk_retry: int, fields: dict[str, Any],
    ) -> str:  # fmt: skip
        said = [] if fields.get("unread") else messages or self.live
        names = [self.history.note(m, self.at_ms) for m in said]
        keep = 0
        while keep < min(len(names), len(self._sent)) and names[keep] == self._sent[keep]:
            keep += 1
        specs = [ToolSpec(name, "", schema) for name, schema in TOOLS.items()] if tools else []
        request = ModelRequest(
            "m", tuple(names[keep:]), after=self._last_key if keep else "", keep=keep,
            tools=self.history.value(msgspec.to_builtins(specs)), tools_offered=tools,
        )  # fmt: skip
        request = msgspec.structs.replace(request, **fields)
        key = self._key("model")
        self._last_key, self._sent = key, names
        self.history.called(
            **self._where(), key=key, seam="model", request=request, purpose=purpose,
            refused=refused, tokens=size[0], bytes=size[1], sdk_retry=sdk_retry,
            provider=self.provider,
        )  # fmt: skip
        return key

    def tool(
        self, content: Any = "ok", *, error: bool = False, input: Any = None, steps: Any = (),
        faults: tuple[str, ...] = (),
    ) -> Story:  # fmt: skip
        """The agent runs the next call that was asked for."""
        asked = self._asked.pop(0)
        value = asked.input if input is None else input
        key = self._key("tool")
        request = ToolRequest(asked.id, asked.name, value)
        self.history.called(**self._where(), key=key, seam="tool", request=request)
        answer = msgspec.to_builtins(ToolAnswer(content, error))
        outcome = "error" if error else "ok"
        where = self._where()
        self.history.answered(
            **where, key=key, seam="tool", value=answer, outcome=outcome, steps=steps,
            faults=faults,
        )  # fmt: skip
        self._results.append(ToolResult(asked.id, content, error))
        return self

    def ask(
        self, answer: str = "allow", *, input: Any = None, late_ms: int = 0, **said: Any
    ) -> Story:
        """The agent asks the user about the next call that was asked for, and goes on at once,
        also where the answer comes `late_ms` afterwards."""
        asked, key = self._asked[0], self._key("approval")
        request = ApprovalRequest(asked.id, asked.name, asked.input)
        self.history.called(**self._where(), key=key, seam="approval", request=request)
        allowed = asked.input if input is None else input
        value = {"id": asked.id, "answer": answer, "input": allowed, **said}
        steps = (Wait(late_ms),) if late_ms else ()
        self.history.answered(**self._where(), key=key, seam="approval", value=value, steps=steps)
        return self

    def told(self, content: Any, *, error: bool = False) -> Story:
        """The agent tells the model something else than the last result."""
        self._results[-1] = ToolResult(self._results[-1].id, content, error)
        return self

    def told_as_error(self, text: str = "timed out") -> Story:
        """The agent tells the model of the last result as of an error."""
        return self.told(text, error=True)

    def refuse(self, text: str = "refused", *, error: bool = True) -> Story:
        """The agent answers the next call itself."""
        self._results.append(ToolResult(self._asked.pop(0).id, text, error))
        return self

    def _join_results(self) -> None:
        if self._results:
            self.live.append(results(*self._results))
            self._results = []

    def say(self, text: str, kind: Any = "final", status: str = "ok", taken: bool = True) -> Story:
        """The agent says something to the user, and nothing else happens."""
        key = self._key("outbox")
        request = OutboxRequest(kind, text, self._name, status)
        self.history.called(**self._where(), key=key, seam="outbox", request=request)
        self.history.answered(**self._where(), key=key, seam="outbox", complete=taken)
        return self

    def unsent(self, text: str, outcome: Any = "error") -> Story:
        """The agent ends its turn, and the outbox does not take it."""
        key, request = self._key("outbox"), OutboxRequest("final", text, self._name)
        self.history.called(**self._where(), key=key, seam="outbox", request=request)
        where = {**self._where(), "key": key, "outcome": outcome}
        self.history.answered(**where, seam="outbox", complete=False)
        return self

    def final(self, text: str | None = None, status: str = "ok", kind: Any = "final") -> Story:
        """The turn ends with the model's last words, or with these, stored like any reply."""
        self._join_results()
        if text is not None and text != self._said:
            self.live.append(assistant(text))
        self._flush()
        return self.say(self._said if text is None else text, kind, status)


def loop(story: Story, name: str, times: int, value: Any = None, **answer: Any) -> Story:
    """The model asks for the same call again and again, and the agent runs it."""
    for _ in range(times):
        story.reply(use(name, value)).tool(**answer)
    return story


def codes(findings: Any) -> list[str]:
    """The codes, in order."""
    return [finding.code for finding in findings]


def tools_run(story: Story) -> list[int]:
    """The numbers of the calls to tools, in order."""
    return [e.n for e in story.history.events if isinstance(e, Called) and e.seam == "tool"]
