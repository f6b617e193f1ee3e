"""One question of a real SDK's client to a faulty model, and what the client met, in words.

The words are what a program sees: the stop reason and the blocks of a parsed message, or the class
of an exception and its text. So they can stand in a table and be compared with another version of
the SDK.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import msgspec

from harness.clock import RealClock, VirtualClock, virtual_time
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Limits, Scenario, ToolScript, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.profile import Profile, Results
from harness.faults import arm
from harness.providers import by_name
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.loopback import Loopback
from harness.transports.sdk_clients import sdk_client

Json = dict[str, Any]
TransportName = Literal["in process", "loopback"]
SDK = {"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai"}

CALL: Json = {"path": "/a/b", "size": 12345, "lines": ["x", "y"], "note": "wörld and more"}
SAYS = Turn(
    blocks=(
        {"type": "text", "text": "Hello, wörld 😀"},
        {"type": "tool_use", "id": "toolu_1", "name": "write", "input": CALL},
    ),
    times="forever",
)
"""A text and a call with arguments of every type."""

TOOLS: dict[str, ToolScript] = {
    "write": ToolScript(
        input_schema={
            "type": "object",
            "properties": {"path": {"type": "string"}, "size": {"type": "integer"}},
            "required": ["path"],
        }
    ),
    "ping": ToolScript(),
}


class Met(msgspec.Struct, frozen=True):
    """What came of a question: words, and the thing itself; the faults that fired."""

    words: str
    fired: tuple[str, ...]
    history: History
    message: Any = None
    error: BaseException | None = None
    waits_s: tuple[float, ...] = ()

    @property
    def requests(self) -> int:
        """How many requests the client sent."""
        return sum(type(event).__name__ == "Called" for event in self.history.events)


def ask(
    kind: str,
    settings: Json | None = None,
    *,
    wire: Any = "anthropic",
    stream: bool = True,
    helper: bool = True,
    turn: Turn = SAYS,
    messages: Sequence[Json] = ({"role": "user", "content": "hi"},),
    transport: TransportName = "in process",
    tools: dict[str, ToolScript] = TOOLS,
    timeout_s: float = 600,
    retries: int = 0,
) -> Met:
    """What the SDK's client gets when the fault `kind` ("" for none) strikes its first requests.

    `helper` takes the SDK's own accumulation of a stream; without it chunks are read one by one.
    With `retries` the fault strikes every request, and in process the waits are virtual.
    """
    often: Any = "forever" if retries else "once"
    # OpenAI's accumulation takes strict tools only, so its requests offer none.
    specs = (FaultSpec(kind=kind, settings=settings or {}, often=often),) if kind else ()
    results: Results = "text" if helper or not tools else "blocks"  # a call needs no offer then
    scenario = Scenario(
        name="asked", wire=wire, stream=stream, script=(turn,), faults=specs, tools=tools,
        limits=Limits(virtual_s=1e7), profile=Profile(results=results),
    )  # fmt: skip
    run, clock = _transition(scenario), VirtualClock()
    with ExitStack() as stack:
        if retries:
            stack.enter_context(virtual_time(clock))
        own = {"max_retries": retries, "timeout": timeout_s}
        client = stack.enter_context(_client(run, wire, transport, clock, own))
        try:
            message = _ASK[wire](client, stream, helper, list(messages), tools)
            said, error = _said(message), None
        except Exception as caught:
            message, error, said = None, caught, raised(caught)
    fired = tuple(kind for e in run.history.events for kind in getattr(e, "faults", ()))
    waits_s = tuple(wait.seconds for wait in clock.waits if wait.source != "transport")
    return Met(said, fired, run.history, message, error, waits_s)


def _transition(scenario: Scenario) -> Transition:
    wire = by_name(scenario.wire)
    specs, refusals = scenario.faults, wire.refusals()
    faults = [arm(spec, wire=scenario.wire, refusals=refusals) for spec in specs]
    assert isinstance(scenario.script, tuple)
    script = TurnScript(scenario.script, Draws(0))
    return Transition(scenario, wire, script, History(), faults=faults)


@contextmanager
def _client(
    run: Transition, wire: str, transport: TransportName, clock: VirtualClock, settings: Json
) -> Iterator[Any]:
    sdk = SDK[wire]
    if transport == "in process":
        yield sdk_client(
            sdk, HttpxTransport(Dispatcher(run, clock)), asynchronous=False, **settings
        )
        return
    with Loopback(run, RealClock()) as server:
        url = server.urls.model + ("/v1" if sdk == "openai" else "")
        with sdk_client(sdk, None, asynchronous=False, base_url=url, **settings) as client:
            yield client


def _anthropic(client: Any, stream: bool, helper: bool, messages: list[Json], tools: Any) -> Any:
    offered = [
        {"name": name, "description": "", "input_schema": tool.input_schema}
        for name, tool in tools.items()
    ]
    asked: Json = {"model": "m", "max_tokens": 100, "messages": messages}
    if offered:
        asked["tools"] = offered
    if not stream:
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as events:
        return events.get_final_message()


def _chat(client: Any, stream: bool, helper: bool, messages: list[Json], tools: Any) -> Any:
    asked: Json = {"model": "m", "messages": messages}
    if not (stream and helper) and tools:  # the helper takes strict tools only
        asked["tools"] = [{"type": "function", "function": _function(n, tools[n])} for n in tools]
    if not stream:
        return client.chat.completions.create(**asked)
    if helper:
        with client.chat.completions.stream(**asked) as events:
            return events.get_final_completion()
    return list(client.chat.completions.create(**asked, stream=True))


def _responses(client: Any, stream: bool, helper: bool, messages: list[Json], tools: Any) -> Any:
    asked: Json = {"model": "m", "input": messages}
    if not (stream and helper) and tools:
        asked["tools"] = [{"type": "function", **_function(name, tools[name])} for name in tools]
    if not stream:
        return client.responses.create(**asked)
    if helper:
        with client.responses.stream(**asked) as events:
            return events.get_final_response()
    return list(client.responses.create(**asked, stream=True))


def _function(name: str, tool: ToolScript) -> Json:
    return {"name": name, "parameters": tool.input_schema}


_ASK: dict[str, Callable[[Any, bool, bool, list[Json], Any], Any]] = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
}


def raised(error: BaseException) -> str:
    """An exception in words: its class with its module's package, status and type, its text."""
    package = type(error).__module__.partition(".")[0]
    name = type(error).__name__ if package == "builtins" else f"{package}.{type(error).__name__}"
    facts = [str(f) for f in (getattr(error, "status_code", None), getattr(error, "type", None))]
    known = ", ".join(fact for fact in facts if fact != "None")
    text = str(error).partition("\n")[0][:90]
    return f"{name}{f'({known})' if known else ''}: {text}".rstrip(": ")


def _said(message: Any) -> str:
    if isinstance(message, str):
        return f"a str: {message[:40]!r}"
    if isinstance(message, list):
        return _listed(message)
    if hasattr(message, "choices"):
        return _completion(message)
    if hasattr(message, "output"):
        return f"{message.status}: " + "; ".join(_item(item) for item in message.output or ())
    blocks = "; ".join(_block(block) for block in message.content or ())
    return f"{message.stop_reason}: {blocks or 'nothing'}"


def _block(block: Any) -> str:
    match block.type:
        case "text":
            return repr(block.text) if len(block.text) < 80 else f"text of {len(block.text)}"
        case "tool_use":
            return f"{block.name}({_json(block.input)})"
    return str(block.type)


def _completion(completion: Any) -> str:
    if not completion.choices:
        return "no choices"
    choice = completion.choices[0]
    calls = choice.message.tool_calls or ()
    parts = [
        repr(choice.message.content),
        *(f"{c.id}: {c.function.name}({c.function.arguments})" for c in calls),
    ]
    return f"{choice.finish_reason}: " + "; ".join(parts)


def _item(item: Any) -> str:
    if item.type == "function_call":
        return f"{item.name}({item.arguments})"
    return "".join(repr(getattr(part, "text", part.type)) for part in getattr(item, "content", ()))


def _listed(events: list[Any]) -> str:
    """Events that were read one by one: Chat's by content, call and reason, others by type."""
    if events and not hasattr(events[0], "choices"):
        return f"{len(events)} events, the last is {events[-1].type}"
    choices = [choice for chunk in events for choice in chunk.choices[:1]]
    text = "".join(choice.delta.content or "" for choice in choices)
    reasons = [choice.finish_reason for choice in choices if choice.finish_reason]
    return f"{reasons[-1] if reasons else None}: {text!r}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
