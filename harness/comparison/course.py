"""The calls of a run in lanes, each as a value that is equal unless something relevant differs.

A session has one lane, and its side requests (`aux`) have another, because both may cross in time.
Tools that run in parallel are in the order of their calls. Calls that depend only on timing are
left out: polls for a cancel, heartbeats, parts of an answer, and requests for facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeAlias

import msgspec

from harness.comparison.message_shapes import MessageShapes, Shape, stable
from harness.core.history.events import Answered, Called
from harness.core.history.exchanges import Exchange, Execution
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.calls import InboxRequest, OutboxRequest, StoreRequest, ToolRequest
from harness.core.values.messages import Json, ToolUse, canonical

Lane: TypeAlias = tuple[str, str]
"""The session, and `""`, `aux` or `end`."""

END = "the end"
"""The key of the end of a run, which counts as a call."""

_PASSING = frozenset({"partial", "heartbeat"})
"""The kinds of messages whose number depends only on timing."""


class Call(msgspec.Struct, frozen=True):
    """A compared call, at event `n`.

    `words` is its name. Two calls of one `kind` are equal if their `said` is equal: pairs of a name
    and a text. `messages` is the number of the message list of a model call. `frame` holds the
    other fields of a request, which seldom change from call to call. `answer` is the answer of the
    world.
    """

    n: int
    key: str
    kind: str
    said: tuple[tuple[str, str], ...] = ()
    messages: int = 0
    frame: tuple[tuple[str, tuple[str, ...]], ...] = ()
    answer: tuple[tuple[str, str], ...] = ()
    input: Json = None
    exchange: Exchange | None = None

    @property
    def same(self) -> tuple[object, ...]:
        """A key that is equal for two calls in which the agent does the same."""
        return self.kind, self.said, self.messages


class Course:
    """The calls of a history by lane, and the shapes of the messages of its requests."""

    def __init__(self, history: History, numbers: dict[tuple[int, Shape], int]) -> None:
        self._trace = history.trace
        self.shapes = MessageShapes(history.trace, numbers)
        self._exchanges = {e.n: e for e in history.trace.exchanges}
        self._executions = {e.n: e for e in history.trace.executions}
        self._answers = {e.key: e for e in history.events if isinstance(e, Answered)}
        self.lanes = self._lanes(e for e in history.events if isinstance(e, Called))

    def _lanes(self, events: Iterable[Called]) -> dict[Lane, list[Call]]:
        lanes: dict[Lane, list[Call]] = {}
        for event in events:
            if call := self._call(event):
                aux = "aux" if event.seam == "model" and event.purpose == "aux" else ""
                lanes.setdefault((event.session, aux), []).append(call)
        found = {lane: list(_in_order(calls)) for lane, calls in lanes.items()}
        if ended := self._trace.ended:
            found["", "end"] = [Call(ended.n, END, f"the run has {ended.how}")]
        return found

    def _call(self, event: Called) -> Call | None:
        match event.request:
            case ToolRequest() as request:
                return self._tool(event, request)
            case OutboxRequest() as request if request.kind not in _PASSING:
                said = {"status": request.status, "in_reply_to": " ".join(request.answers),
                        "text": "some" if request.text.strip() else "none"}  # fmt: skip
                return self._made(event, f"says {request.kind}", said)
            case InboxRequest(poll=False):
                return self._made(event, "takes a message", {})
            case StoreRequest(operation, _, access):
                return self._made(event, f"store {operation}", {"access": access})
        exchange = self._exchanges.get(event.n)
        return self._model(event, exchange) if exchange else None

    def _made(self, event: Called, kind: str, said: dict[str, str], **more: Json) -> Call:
        answer = self._answer(self._answers.get(event.key))
        return Call(event.n, event.key, kind, tuple(said.items()), answer=answer, **more)

    def _tool(self, event: Called, request: ToolRequest) -> Call:
        run = self._executions.get(event.n)
        value = stable(request.input, run.ask.use.input if run and run.ask else None)
        said = {"input": canonical(value), "asked": _asked(run)}
        return self._made(event, f"tool {request.name}", said, input=value)

    def _model(self, event: Called, exchange: Exchange) -> Call:
        request = exchange.request
        said = {
            "purpose": event.purpose,
            "tools": "some" if request.tools_offered else "none",
            "sdk retry": str(event.sdk_retry),
        }
        frame, number = tuple(_frame(exchange, self._trace)), self.shapes.number(exchange)
        return self._made(event, "model", said, messages=number, frame=frame, exchange=exchange)

    def _answer(self, answered: Answered | None) -> tuple[tuple[str, str], ...]:
        """The answer of the world, without prose."""
        if answered is None:
            return (("answer", "none"),)
        said = self._trace.messages.get(answered.blocks) if answered.blocks else None
        uses = [block for block in said.blocks if isinstance(block, ToolUse)] if said else []
        meant = self.shapes.names.meant_by
        parts = {
            "status": "" if answered.status is None else str(answered.status),
            "error": answered.error,
            "outcome": "" if answered.outcome == "ok" else answered.outcome,
            "stop": answered.stop or "",
            "faults": " ".join(answered.faults),
            "asks for": ", ".join(f"{meant(use.name)} {canonical(use.input)}" for use in uses),
            "whole": "" if answered.complete else "no",
        }
        return tuple((name, text) for name, text in parts.items() if text)


def course(history: History, numbers: dict[tuple[int, Shape], int] | None = None) -> Course:
    """Return the course of a history; two courses that share `numbers` can be compared."""
    return Course(history, {} if numbers is None else numbers)


def _in_order(calls: Iterable[Call]) -> Iterator[Call]:
    """Yield the calls; tool runs between two other calls are in the order of the model's calls."""
    for is_tool, group in groupby(calls, lambda call: call.kind.startswith("tool ")):
        found = list(group)
        yield from sorted(found, key=_rank) if is_tool else found


def _rank(call: Call) -> tuple[str, str, str]:
    said = dict(call.said)
    return said["asked"], call.kind, said["input"]


def _asked(run: Execution | None) -> str:
    """The call of the newest answer that a tool run carries out; "no call" without one."""
    if run is None or run.ask is None:
        return "no call"
    uses = run.ask.exchange.reply.tool_uses if run.ask.exchange.reply else ()
    return next((f"call {n}" for n, u in enumerate(uses, 1) if u.id == run.ask.use.id), "a call")


def _frame(exchange: Exchange, trace: Trace) -> Iterator[tuple[str, tuple[str, ...]]]:
    request = exchange.request
    yield "model", (request.model,)
    yield "max_tokens", () if request.max_tokens is None else (str(request.max_tokens),)
    yield "system text", ("some",) if request.system else ("none",)
    yield "streamed", ("yes",) if request.stream else ("no",)
    if request.tools_offered:
        schemas = trace.schemas.get(request.tools, {})
        yield "tools", tuple(sorted(_signature(*tool) for tool in schemas.items()))


def _signature(name: str, schema: dict[str, Json]) -> str:
    inputs = schema.get("properties")
    return f"{name}({', '.join(sorted(inputs)) if isinstance(inputs, dict) else ''})"
