"""A small agent on the official client: full history or the server's, plain or streamed."""

from __future__ import annotations

import json
from typing import Any

import openai

from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario, ToolScript, ToolTurn, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from tests.providers.openai_responses.world import WIRE

TOOLS = {"look": ToolScript(description="Looks", script=(ToolTurn(ok="fine", times="forever"),))}
DECLARED = [{"type": "function", "name": "look", "description": "Looks", "parameters": {}}]
STYLES = ("plain", "raw", "helper")
MOST_CALLS = 6


def transition(*turns: Turn, **fields: Any) -> Transition:
    """A run of these turns on this wire."""
    scenario = Scenario(name="sdk", wire="openai-responses", script=turns, tools=TOOLS, **fields)
    return Transition(scenario, WIRE, TurnScript(turns, Draws(scenario.seed)), History())


def _asked(items: list[Any], held: str | None) -> dict[str, Any]:
    settings: dict[str, Any] = {"model": "m", "input": items, "tools": DECLARED}
    return {**settings, "previous_response_id": held} if held else settings


def ask(client: openai.OpenAI, style: str, settings: dict[str, Any]) -> Any:
    """The response to one request, as a style of asking gets it."""
    if style == "plain":
        return client.responses.create(**settings)
    if style == "raw":
        last: Any = None
        for event in client.responses.create(**settings, stream=True):
            last = event
        return last.response
    with client.responses.stream(**settings) as stream:
        return stream.get_final_response()


async def ask_async(client: openai.AsyncOpenAI, style: str, settings: dict[str, Any]) -> Any:
    """The same, asynchronous."""
    if style == "plain":
        return await client.responses.create(**settings)
    if style == "raw":
        last: Any = None
        async for event in await client.responses.create(**settings, stream=True):
            last = event
        return last.response
    async with client.responses.stream(**settings) as stream:
        return await stream.get_final_response()


def play(client: openai.OpenAI, style: str, keeps: bool) -> list[str]:
    """Ask until the model calls no tool; `keeps`: the server keeps the history."""
    met, items, held = list[str](), [{"role": "user", "content": "go"}], None
    for _ in range(MOST_CALLS):
        try:
            response = ask(client, style, _asked(items, held))
        except (openai.APIError, RuntimeError) as error:
            return [*met, f"{type(error).__name__}: {error}"]
        met.append(_told(response))
        items, held = _next(items, response, keeps)
        if not items:
            break
    return met


async def play_async(client: openai.AsyncOpenAI, style: str, keeps: bool) -> list[str]:
    """The same, asynchronous."""
    met, items, held = list[str](), [{"role": "user", "content": "go"}], None
    for _ in range(MOST_CALLS):
        try:
            response = await ask_async(client, style, _asked(items, held))
        except (openai.APIError, RuntimeError) as error:
            return [*met, f"{type(error).__name__}: {error}"]
        met.append(_told(response))
        items, held = _next(items, response, keeps)
        if not items:
            break
    return met


def _told(response: Any) -> str:
    """What a response says, as one text."""
    reason = response.incomplete_details and response.incomplete_details.reason
    said = [item.type for item in response.output]
    return f"{response.status} {reason} {said} {response.output_text}"


def _next(items: list[Any], response: Any, keeps: bool) -> tuple[list[Any], str | None]:
    """The input of the next request, empty when there is none, and what it goes on from."""
    calls = [item for item in response.output if item.type == "function_call"]
    outputs = [
        {"type": "function_call_output", "call_id": call.call_id, "output": run(call)}
        for call in calls
    ]
    if keeps:
        return outputs, response.id
    said = [item.to_dict() for item in response.output]
    return ([*items, *said, *outputs] if outputs else []), None


def run(call: Any) -> str:
    """What a tool answers to a call."""
    return f"saw {json.loads(call.arguments)}"
