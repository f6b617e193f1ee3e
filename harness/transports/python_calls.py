"""Calls of a Python target as plain values: a plan becomes a return value or an exception.

`ToolError` is an error that the tool reports, `RuntimeError` one that it raises. `TimeoutError` and
`ConnectionError` are calls without an answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from harness.clock.turns import turn_of_task
from harness.core.scenario.scenario import ToolScript
from harness.core.values.brief import Tool, ToolError
from harness.core.values.calls import ToolRequest
from harness.core.values.errors import PassedLimit, RunStopped
from harness.core.values.messages import Json, builtin, builtin_text
from harness.core.values.plans import (
    ON_THE_WAY_S,
    Answer,
    Close,
    Kill,
    Plan,
    Raise,
    Send,
    ToolAnswer,
    Value,
    Wait,
    patience_ms,
    until_timeout,
)
from harness.transports.dispatcher import Dispatcher


def scripted_tool(dispatcher: Dispatcher, name: str, script: ToolScript) -> Tool:
    """A tool of the scenario, whose calls cross the tool seam."""
    held: list[Json] = []
    calls = count(1)

    def call(
        input: Json, *, id: str = "", session: str = "", timeout_s: float | None = None
    ) -> Any:
        place = f"the tool {name}"
        request = ToolRequest(builtin_text(id, f"{place}: the id"), name, builtin(input))
        plan = dispatcher.tool(request, builtin_text(session, f"{place}: the session"))
        value = outcome(dispatcher, until_timeout(plan, patience_ms(timeout_s)), place)
        assert isinstance(value, ToolAnswer), value
        if held:
            change(held, next(calls))
        if value.is_error:
            raise ToolError(value.content)
        return handed_over(value, input, held)

    return Tool(name, script.description, script.input_schema, call, bool(script.approval))


def handed_over(value: ToolAnswer, input: Json, held: list[Json]) -> Any:
    """The value that a tool returns. Values that the tool changes later are put into `held`.

    The tool and its agent share memory here, so such a change reaches the agent's history.
    """
    match value.how:
        case "input_changed" if isinstance(input, dict):
            held.append(input)
            change(held, 0)
        case "changed_later":
            held.append([{"type": "text", "text": str(value.content)}])
            return held[-1]
        case "endless":
            return _endless(value.content)
    return value.content


ENDLESS_BYTES = 64 << 20
"""How much of an answer without an end a target may read."""


def _endless(content: Json) -> Iterator[Json]:
    # No `itertools.repeat`: a loop over that in C could not be interrupted.
    for _ in range(ENDLESS_BYTES // max(1, len(str(content)))):
        yield content
    text = f"the target read {ENDLESS_BYTES >> 20} MB of a tool's answer that has no end"
    raise PassedLimit(text, "memory")


def change(held: list[Json], calls: int) -> None:
    """Change the inputs and answers that a tool still holds, as it does at each further call."""
    for thing in held:
        thing.clear()
        if isinstance(thing, dict):
            thing["changed"] = CHANGED.format(calls)
        else:
            thing.append({"type": "text", "text": CHANGED.format(calls)})


CHANGED = "(changed by the tool, {} calls later)"


def outcome(dispatcher: Dispatcher, plan: Plan, place: str) -> Value:
    """The value of a plan that needs no wire, with its other steps carried out.

    Raises RunStopped when the run is over, TimeoutError and ConnectionError when there is no
    answer, RuntimeError with the tool's own text when it raises.
    """
    answer: Value | None = None
    for step in plan:
        match step:
            case Answer(value):
                answer = value
            case Raise(error, text):
                raise _ERRORS.get(error, RuntimeError)(text or f"{place}: {error}")
            case Close():
                raise ConnectionResetError(f"{place}: the connection was closed")
            case Send(data, head):
                status = head.status if head else "no status"
                raise RuntimeError(f"{place} answered {status}: {data.decode(errors='replace')}")
            case _:
                if isinstance(step, Kill):
                    dispatcher.clock.sleep(ON_THE_WAY_S)
                dispatcher.carry_out(step, f"answer of {place}")
    if answer is None:
        raise ConnectionError(f"{place} gave no answer")
    return answer


async def after_waits(dispatcher: Dispatcher, plan: Plan, what: str = "") -> Plan:
    """The other steps of a plan, after its waits in this task; `what` names the call."""
    for step in plan:
        if isinstance(step, Wait):
            await dispatcher.clock.asleep(step.ms / 1000)
        elif isinstance(step, Kill):
            await dispatcher.clock.asleep(ON_THE_WAY_S)
    if any(isinstance(step, Wait) for step in plan):
        await turn_of_task(dispatcher.clock, "answer", what=what)
    return tuple(step for step in plan if not isinstance(step, Wait))


class ScriptedInterrupt(KeyboardInterrupt):
    """A tool that is scripted to raise KeyboardInterrupt; the user has not pressed Ctrl-C."""


class ScriptedBaseException(BaseException):
    """A tool that is scripted to raise what is not an `Exception`."""


class OddError(Exception):
    """A tool's own class of error, whose `str` fails too."""

    def __str__(self) -> str:
        """Raises, like the first mistake in a seldom used class."""
        raise RuntimeError("this error has no text")


_ERRORS: dict[str, type[BaseException]] = {
    "stop": RunStopped,
    "timeout": TimeoutError,
    "connect": ConnectionRefusedError,
    "custom": OddError,
    "base": ScriptedBaseException,
    "interrupt": ScriptedInterrupt,
    "exit": SystemExit,
}
