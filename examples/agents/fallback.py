"""A careful agent with a second provider: Anthropic, and OpenAI's Chat API while that fails.

Its conversation is one list of rows. Each request is written from those rows, in the words of the
provider that is asked. So nothing has to be carried over when a turn moves, and nothing foreign
goes along. Take the parts that you lack:

- `Route`: which provider is asked, when it is left, and when the first one is tried again.
- `chat_messages`, `row_of_chat`: rows as messages of the other API, and its answer as a row.
"""

from __future__ import annotations

import json
import time
from typing import Any

import httpx2
import openai

from examples.agents.anthropic_rows import (
    Passing,
    Row,
    TurnFailed,
    calls_of,
    clean,
    failure,
    flat,
    text_of,
)
from examples.agents.careful_sync import CarefulAgent
from harness import Brief

MODEL = "gpt-5.6"
STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
# How long the first provider is left alone after its failures.
AWAY_S = 300


class Route:
    """Which provider is asked: the first one, unless it failed a short time ago."""

    def __init__(self) -> None:
        self.away_until = 0.0

    @property
    def is_away(self) -> bool:
        """Whether the second provider is asked."""
        return time.monotonic() < self.away_until

    def failed(self) -> None:
        """Leave the first provider alone for a while."""
        self.away_until = time.monotonic() + AWAY_S


class FallbackAgent(CarefulAgent):
    """Asks the second provider for an answer that the first one does not give."""

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.second = brief.openai(max_retries=0, timeout=60)
        self.route, self.second_takes_tools = Route(), True

    def ask_once(self, request: Row) -> Row:
        """One request to the provider that is due; a failure of the first one moves it."""
        is_fit = self.second_takes_tools or not request.get("tools")
        if not (is_fit and self.route.is_away):
            try:
                return super().ask_once(request)
            except Passing:
                if not is_fit:
                    raise
                self.route.failed()
        return self.ask_second(request)

    def ask_second(self, request: Row) -> Row:
        """The same request in the words of the second provider."""
        try:
            answer = self.second.chat.completions.create(**self.chat_request(request))
        except openai.APIStatusError as error:
            # Known for good: a later turn that asked again would be refused again.
            self.second_takes_tools &= error.param != "tools"
            raise failure(error.status_code, str(error), error.response.headers) from error
        except (openai.APIError, httpx2.HTTPError, ValueError) as error:
            raise Passing(str(error) or type(error).__name__) from error
        return self.row_of_chat(answer)

    def chat_request(self, request: Row) -> Row:
        """A request for the Messages API as one for the Chat API."""
        tools = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "parameters": tool["input_schema"],
                },
            }
            for tool in request.get("tools", ())
        ]
        made: Row = {
            "model": MODEL,
            "max_completion_tokens": request["max_tokens"],
            "messages": [
                {"role": "system", "content": request["system"]},
                *chat_messages(request["messages"]),
            ],
        }
        return {**made, "tools": tools} if tools else made

    def row_of_chat(self, answer: Any) -> Row:
        """The second provider's answer, as the first one would have said it."""
        choice = answer.choices[0] if getattr(answer, "choices", None) else None
        if choice is None or choice.message is None or not choice.finish_reason:
            raise Passing("the answer was not whole")
        words, calls = choice.message.content, choice.message.tool_calls or ()
        if choice.message.refusal or choice.finish_reason == "content_filter":
            raise TurnFailed(f"The model declined to answer. {choice.message.refusal or ''}")
        content: list[Row] = [{"type": "text", "text": clean(words)}] if words else []
        content += [call_block(call) for call in calls if call.type == "function"]
        stop = STOPS.get(choice.finish_reason, choice.finish_reason)
        usage = answer.usage
        counted = {
            "input_tokens": getattr(usage, "prompt_tokens", 0),
            "output_tokens": getattr(usage, "completion_tokens", 0),
        }
        return {"content": content, "stop_reason": stop, "usage": counted}


def call_block(call: Any) -> Row:
    """A call of the second provider; arguments that are not JSON stay a text."""
    try:
        given = json.loads(call.function.arguments or "{}")
    except ValueError:
        given = call.function.arguments
    return {"type": "tool_use", "id": call.id, "name": call.function.name, "input": given}


def chat_messages(messages: list[Row]) -> list[Row]:
    """Messages for the second API: each result is one message, before the words of the user."""
    made: list[Row] = []
    for message in messages:
        content = message["content"]
        if message["role"] == "assistant":
            made.append(answer_of(content))
            continue
        made += [result_of(b) for b in content if b["type"] == "tool_result"]
        parts = [part for b in content for part in part_of(b)]
        if all(part["type"] == "text" for part in parts):
            texts = "\n".join(part["text"] for part in parts)
            made += [{"role": "user", "content": texts}] if texts else []
        else:
            made.append({"role": "user", "content": parts})
    return made


def answer_of(content: list[Row]) -> Row:
    """An answer: its words, and its calls with their arguments as text."""
    message: Row = {"role": "assistant", "content": text_of(content) or None}
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["input"])},
        }
        for call in calls_of(content)
    ]
    return {**message, "tool_calls": calls} if calls else message


def result_of(block: Row) -> Row:
    """A result as a message; this API has no mark for a failure, so the text says it."""
    text = flat(block["content"])
    if block.get("is_error"):
        text = f"Error: {text}"
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": text}


def part_of(block: Row) -> list[Row]:
    """A part of the user's message, or nothing for a result, which is written before it."""
    if block["type"] == "text":
        return [{"type": "text", "text": block["text"]}]
    if block["type"] == "image":
        source = block["source"]
        kind, data = source.get("media_type", "image/png"), source.get("data", "")
        url = source.get("url") or f"data:{kind};base64,{data}"
        return [{"type": "image_url", "image_url": {"url": url}}]
    return []


def agent(brief: Brief) -> None:
    """Answer every message of the inbox."""
    FallbackAgent(brief).run()
