"""Tool runners of the anthropic SDK: model, system, settings and the bound of iterations stay.

A runner is made for one list of messages, so each turn makes a new one with the same parameters.
The tools of the scenario stand in place of its own. A failed turn leaves no history.
"""

from __future__ import annotations

import importlib
from typing import Any

from harness.adapters.shared.framework_agent import (
    FrameworkAgent,
    answer_of,
    converse,
    in_one_step,
    sorry_for,
)
from harness.core.values.brief import ToolError

_WHOLE = ("end_turn", "stop_sequence")
"""The stop reasons of a complete answer."""

_USUAL = {"model": "claude-sonnet-5", "max_tokens": 4000}
"""The settings of a runner that the user has not made."""

_PER_TURN = ("messages", "tools", "stream")
"""The parameters that each turn sets itself."""


def tool_runner(runner: Any = None, **settings: Any) -> FrameworkAgent:
    """A runner as `client.beta.messages.tool_runner(...)` makes it; `settings` replace its own."""
    own = _parameters(runner) if runner is not None else {}
    kept = {name: value for name, value in own.items() if name not in _PER_TURN}
    named = {**_USUAL, **kept, **settings}

    def play(brief: Any) -> None:
        import anthropic

        client, histories = brief.anthropic(), dict[str, list[Any]]()
        wanted = {**named, "tools": [_tool(tool) for tool in brief.tools]}
        wanted["stream"] = bool(brief.options.get("stream"))

        async def answer(message: Any) -> str:
            asked = {"role": "user", "content": message.text}
            history = [*histories.get(message.session, []), asked]
            text, stop = _turn(client, history, wanted)
            if stop not in _WHOLE or not text.strip():
                raise _Incomplete(f"the answer is incomplete ({stop}). {text}")
            histories[message.session] = history
            return text

        failures = (anthropic.APIError, _transport_error(), _Incomplete)
        in_one_step(converse(brief, answer, sorry_for(*failures)))

    return FrameworkAgent("tool_runner", play)


class _Incomplete(Exception):
    """A turn ended without a whole answer."""


def _parameters(runner: Any) -> dict[str, Any]:
    """The parameters of a runner, read by way of its setter.

    `set_messages_params` passes the parameters to a function and takes what it returns as new ones.
    """
    told: dict[str, Any] = {}

    def same(parameters: Any) -> Any:
        told.update(parameters)
        return parameters

    runner.set_messages_params(same)
    most = getattr(runner, "_max_iterations", None)
    return told if most is None else {**told, "max_iterations": most}


def _transport_error() -> Any:
    """The base of the errors of the HTTP library that the SDK is built on."""
    from anthropic import DefaultHttpxClient

    base = DefaultHttpxClient.__bases__[0]
    return importlib.import_module(base.__module__.partition(".")[0]).TransportError


def _tool(tool: Any) -> Any:
    from anthropic import beta_tool
    from anthropic.lib.tools import ToolError as ToolFailure

    def run(**given: Any) -> Any:
        try:
            return answer_of(tool, given)
        except ToolError as error:
            raise ToolFailure(str(error)) from error

    run.__name__ = tool.name
    return beta_tool(
        run, name=tool.name, description=tool.description, input_schema=tool.input_schema
    )


def _turn(client: Any, history: list[Any], settings: dict[str, Any]) -> tuple[str, str]:
    """Play a turn; the text and the stop reason of its last answer."""
    runner = client.beta.messages.tool_runner(messages=history, **settings)
    answer: Any = None
    for reply in runner:
        answer = reply.get_final_message() if settings["stream"] else reply
        history.append({"role": "assistant", "content": answer.content})
        # The runner runs calls only after the stop reason `tool_use`. This method would run them
        # after any stop reason, also those of an answer that was cut off.
        if answer.stop_reason == "tool_use" and (results := runner.generate_tool_call_response()):
            history.append(results)
    text = "".join(block.text for block in answer.content if block.type == "text")
    return text, answer.stop_reason
