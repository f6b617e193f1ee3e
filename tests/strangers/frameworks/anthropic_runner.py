"""The tool runner of the anthropic SDK, with its defaults."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
from anthropic import beta_tool

from tests.strangers.frameworks.tool_answers import answer_of

_WHOLE = ("end_turn", "stop_sequence")


def _tool(tool: Any) -> Any:
    def run(**given: Any) -> str:
        return answer_of(tool, given)

    run.__name__ = tool.name
    return beta_tool(
        run, name=tool.name, description=tool.description, input_schema=tool.input_schema
    )


def _turn(client: Any, history: list[Any], tools: list[Any], stream: bool) -> tuple[str, str]:
    """Play a turn; the text and the stop reason of its last answer."""
    runner = client.beta.messages.tool_runner(
        model="claude-sonnet-4-5", max_tokens=4000, messages=history, tools=tools, stream=stream
    )
    answer: Any = None
    for reply in runner:
        answer = reply.get_final_message() if stream else reply
        history.append({"role": "assistant", "content": answer.content})
        # The runner itself runs no call of an answer that stopped otherwise; this method would.
        if answer.stop_reason == "tool_use" and (results := runner.generate_tool_call_response()):
            history.append(results)
    text = "".join(block.text for block in answer.content if block.type == "text")
    return text, answer.stop_reason


def agent(brief: Any) -> None:
    """Play each message as one run of the runner; a failed turn leaves no history."""
    client, stream = brief.anthropic(), bool(brief.options.get("stream"))
    tools, histories = [_tool(tool) for tool in brief.tools], {}
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        asked = {"role": "user", "content": message.text}
        history = [*histories.get(message.session, []), asked]
        try:
            text, stop = _turn(client, history, tools, stream)
        except (anthropic.APIError, httpx2.TransportError) as error:
            brief.send(f"Sorry: {error}", kind="error", **where)
            continue
        if stop not in _WHOLE or not text.strip():
            words = f"Sorry, the answer is incomplete ({stop}). {text}"
            brief.send(words, kind="error", **where)
            continue
        histories[message.session] = history
        brief.send(text, **where)
