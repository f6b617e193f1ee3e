"""Histories of generated runs, on which a check must keep its laws.

Each number names one run, cached in the process. The reference agent plays it, or an agent with bad
habits, so that a check has something to find. A habit is one defect of real agents, and one bit of
the option `habits`. With 0 that agent is the loop of a tutorial.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

import msgspec
from hypothesis import strategies as st

from harness.core.history.history import History, decode, encode
from harness.core.scenario.scenario import Limits, Scenario
from harness.core.values.brief import Brief, ToolError
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.scenario_grammar import Options, scenario_of
from harness.runner import run
from harness.targets.output_capture import captured
from harness.targets.spec import of_callable, resolve

RUNS = 48
"""The number of runs to draw from."""

_OPTIONS = Options(faults=("*",), kills=False, limits=Limits(model_calls=40, real_s=20.0))


def histories() -> st.SearchStrategy[History]:
    """Histories of whole runs; each draw is a new object, because a wrong check may change it."""
    return st.integers(0, RUNS - 1).map(lambda number: decode(played(number)))


@lru_cache(maxsize=RUNS)
def played(number: int) -> bytes:
    """The lines of the history of the run with this number."""
    scenario = scenario_of(ChoiceSequence((), Random(number)), _OPTIONS)
    with captured("fd"):
        return encode(_run(scenario, number).events)


def _run(scenario: Scenario, number: int) -> History:
    if number % 3 == 0:
        return run(scenario, resolve("reference")).history
    scenario = msgspec.structs.replace(scenario, stream=False)
    habits = Random(number).randrange(1 << len(HABITS))
    return run(scenario, of_callable(careless), options={"habits": habits}).history


def prefix(history: History, part: float) -> History:
    """The first part of a history, from empty (0) to complete (1)."""
    lines = encode(history.events).splitlines(keepends=True)
    return decode(b"".join(lines[: round(part * len(lines))]))


HABITS = ("forgets", "insists", "repeats calls", "drops results", "says nothing", "says it twice",
          "boasts")  # fmt: skip

ROUNDS = 6
"""The number of model answers after which a turn ends."""


def careless(brief: Brief) -> None:
    """Answer every message, badly."""
    bits = int(brief.options.get("habits", 0))
    habits = {habit for place, habit in enumerate(HABITS) if bits >> place & 1}
    messages: list[dict[str, Any]] = []
    for inbound in brief.inbox():
        if "forgets" in habits:
            messages.clear()
        messages.append({"role": "user", "content": inbound.text or "-"})
        said, failed = _turn(brief, messages, habits)
        status = "failed" if failed and "boasts" not in habits else "completed"
        times = 0 if "says nothing" in habits else 2 if "says it twice" in habits else 1
        for _ in range(times):
            brief.send(said, in_reply_to=inbound.id, session=inbound.session, status=status)


def _turn(brief: Brief, messages: list[dict[str, Any]], habits: set[str]) -> tuple[str, bool]:
    """Return the agent's last text, and whether the model could not be called."""
    for _ in range(ROUNDS):
        blocks = _ask(brief, messages, habits)
        if blocks is None:
            return "Something went wrong.", True
        messages.append({"role": "assistant", "content": blocks or "-"})
        results = [_result(brief, block, habits) for block in blocks if block["type"] == "tool_use"]
        if not results:
            return "".join(block.get("text", "") for block in blocks) or "-", False
        if "drops results" in habits:
            results.pop()
        messages.append({"role": "user", "content": results or "And?"})
    return "I gave up.", False


def _ask(
    brief: Brief, messages: list[dict[str, Any]], habits: set[str]
) -> list[dict[str, Any]] | None:
    """The blocks of an answer; None if every attempt fails."""
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in brief.tools
    ]
    client = brief.anthropic(max_retries=0)
    for _ in range(9 if "insists" in habits else 1):
        try:
            reply = client.messages.create(
                model="any", max_tokens=1000, messages=messages, tools=tools
            )
        except Exception:  # this agent ignores every error of the SDK
            continue
        return [block.model_dump(exclude_none=True) for block in reply.content or ()]
    return None


def _result(brief: Brief, call: dict[str, Any], habits: set[str]) -> dict[str, Any]:
    if "repeats calls" in habits:
        _called(brief, call)
    content = _called(brief, call)
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content}


def _called(brief: Brief, call: dict[str, Any]) -> str:
    tool = next((tool for tool in brief.tools if tool.name == call["name"]), None)
    if tool is None:
        return "there is no such tool"
    try:
        return str(tool.call(call["input"], id=call["id"]))
    except ToolError as error:
        return str(error)
