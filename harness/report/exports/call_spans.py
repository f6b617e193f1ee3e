"""What a span says of one call: of a model, or of a tool.

A model's call holds its messages; a tool's call its arguments and its result. Of a call that was
never answered the span ends with its turn, and says so: a reader would take its end for an answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import msgspec

from harness.core.history.events import Answered, AnyEvent
from harness.core.history.exchanges import Ask, Exchange, Execution, answer_text
from harness.core.values.messages import Json, Message
from harness.core.values.plans import WINDOW_FULL
from harness.report.exports.exported_run import ExportedRun, begin_ns, end_ns, time_ns
from harness.report.exports.genai_messages import AsJson, message, rows

MESSAGES_MOST = 50
"""The most messages of a request in a span. Requests repeat what was said before, so the file of a
long run would grow with its square. `harness.messages_left_out` counts the older messages."""

UNANSWERED = "unanswered"

_INTERNAL, _CLIENT = 1, 3
_PROVIDERS = {"gemini": "gcp.gemini"}
"""The families of APIs that the conventions call otherwise."""

FINISHES = {
    "end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_call", "max_tokens": "length",
    "refusal": "content_filter", WINDOW_FULL: "length",
}  # fmt: skip
"""The reasons of the conventions for an end, by those of the core."""


class CallSpan(msgspec.Struct, frozen=True):
    """A call with its attributes. `key` tells it from the others; `events` are those of its own.

    `error` is its kind, "" for a call that went well; `why` is in words.
    """

    key: tuple[int, int]
    turn: int
    name: str
    kind: int
    begin_ns: int
    end_ns: int
    events: tuple[int, ...]
    attributes: dict[str, Json]
    error: str = ""
    why: str = ""


def call_spans(run: ExportedRun, session: str) -> list[CallSpan]:
    """The calls of a session in the order of their events."""
    trace = run.history.trace
    found = [_chat(run, e) for e in trace.exchanges if e.called.session == session]
    found += [_tool(run, e) for e in trace.executions if e.called.session == session]
    ran = {execution.request.name for execution in trace.executions}
    own = (
        ask for ask in trace.asks
        if _is_own(ask, ran) and ask.exchange.called.session == session
    )  # fmt: skip
    found += [_own(ask, number) for number, ask in enumerate(own, start=1)]
    return sorted(found, key=lambda span: (span.begin_ns, span.key))


def _end(run: ExportedRun, called: AnyEvent, answered: Answered | None) -> int:
    last = answered or run.last_of_turn[called.session, called.turn]
    return max(begin_ns(called), end_ns(last))


def _numbers(called: AnyEvent, answered: Answered | None) -> tuple[int, ...]:
    return (called.n, answered.n) if answered else (called.n,)


def _chat(run: ExportedRun, exchange: Exchange) -> CallSpan:
    called, answered, request = exchange.called, exchange.answered, exchange.request
    error = _chat_error(exchange)
    return CallSpan(
        key=(called.n, 0),
        turn=called.turn,
        name=f"chat {request.model}".rstrip(),
        kind=_CLIENT,
        begin_ns=begin_ns(called),
        end_ns=_end(run, called, answered),
        events=_numbers(called, answered),
        error=error,
        why="" if not error or answered is None else answered.error or answered.outcome,
        attributes={
            "gen_ai.operation.name": "chat",
            "openinference.span.kind": "LLM",
            "gen_ai.provider.name": provider(called.provider),
            "gen_ai.request.model": request.model,
            "gen_ai.request.max_tokens": request.max_tokens,
            **_usage(exchange),
            **_messages(run, exchange),
            "http.response.status_code": exchange.status,
            "harness.purpose": exchange.purpose,
            "harness.faults": list(answered.faults) if answered else [],
        },
    )


def provider(name: str) -> str:
    """The name of a provider in the conventions: that of the family of the API."""
    family = name.partition("-")[0]
    return _PROVIDERS.get(family, family)


def _chat_error(exchange: Exchange) -> str:
    answered = exchange.answered
    if answered is None:
        return UNANSWERED
    if (answered.status or 0) >= 400:
        return str(answered.status)
    return "" if exchange.succeeded else answered.error or answered.outcome


def _usage(exchange: Exchange) -> dict[str, Json]:
    said = exchange.answered.usage if exchange.answered else {}
    read = said.get("input_tokens") or (exchange.called.tokens if exchange.succeeded else 0)
    return {
        "gen_ai.usage.input_tokens": read or None,
        "gen_ai.usage.output_tokens": said.get("output_tokens"),
    }


def _messages(run: ExportedRun, exchange: Exchange) -> dict[str, Json]:
    history, request, reply = run.history, exchange.request, exchange.reply
    newest: list[Message] = [node.message for node in islice(exchange.node.back(), MESSAGES_MOST)]
    finish = FINISHES.get(exchange.stop or "", exchange.stop) or "error"
    system, tools = history.values.get(request.system), history.values.get(request.tools)
    return {
        "gen_ai.system_instructions": rows(_parts_of_system(system)),
        "gen_ai.tool.definitions": rows(map(_definition, tools or ())),
        "gen_ai.input.messages": rows(map(message, reversed(newest))),
        "harness.messages_left_out": max(exchange.node.depth - MESSAGES_MOST, 0) or None,
        "gen_ai.output.messages": None if reply is None else rows([message(reply, finish)]),
        "gen_ai.response.finish_reasons": [finish] if exchange.stop else [],
    }


def _parts_of_system(system: Json) -> Iterator[dict[str, Json]]:
    if system:
        yield {"type": "text", "content": system}


def _definition(tool: dict[str, Json]) -> dict[str, Json]:
    said = {"name": tool.get("name"), "description": tool.get("description", "")}
    return {"type": "function", **said, "parameters": tool.get("input_schema", {})}


def _tool(run: ExportedRun, execution: Execution) -> CallSpan:
    called, answered, request = execution.called, execution.answered, execution.request
    given = answered.value if answered else None
    value = given if isinstance(given, dict) else None
    error = "tool_error" if execution.failed else "" if answered else UNANSWERED
    return CallSpan(
        key=(called.n, 0),
        turn=called.turn,
        name=f"execute_tool {request.name}",
        kind=_INTERNAL,
        begin_ns=begin_ns(called),
        end_ns=_end(run, called, answered),
        events=_numbers(called, answered),
        error=error,
        why=answer_text(answered) if answered and error and value is None else "",
        attributes={
            **_of_tool(request.id, request.name, request.input),
            "gen_ai.tool.call.result": _result(value.get("content")) if value else None,
            "harness.faults": list(answered.faults) if answered else [],
        },
    )


def _result(content: Json) -> Json:
    """A text or parts as they are; of any other value the JSON, whose numbers have any size."""
    return content if content is None or isinstance(content, (str, list)) else AsJson(content)


def _of_tool(id_: str, name: str, given: Json) -> dict[str, Json]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "openinference.span.kind": "TOOL",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": id_,
        "gen_ai.tool.call.arguments": AsJson(given),
    }


def _is_own(ask: Ask, ran: set[str]) -> bool:
    """Whether a call is to a tool of the agent, which no seam shows.

    A call without a run to a tool that does run was refused: nothing was executed.
    """
    return ask.refused and ask.exchange.answered is not None and ask.use.name not in ran


def _own(ask: Ask, number: int) -> CallSpan:
    """A call to the agent's own tool: from the answer that asks for it to its result."""
    asked, sent = ask.exchange.answered, ask.sent
    assert asked is not None, "it is an own call"
    assert sent is not None, "it has a result"
    begin = end_ns(asked)
    plain = sent.content if isinstance(sent.content, str) else msgspec.to_builtins(sent.content)
    return CallSpan(
        key=(asked.n, number),
        turn=ask.exchange.called.turn,
        name=f"execute_tool {ask.use.name}",
        kind=_INTERNAL,
        begin_ns=begin,
        end_ns=max(begin, time_ns(ask.sent_ms, ask.sent_n)),
        events=(),
        error="tool_error" if sent.is_error else "",
        attributes={
            **_of_tool(ask.use.id, ask.use.name, ask.use.input),
            "gen_ai.tool.call.result": plain,
            "harness.answered_by": "agent",
        },
    )
