"""One call of a model: the request, the answer, and the protocol of every model.

The model writes tool arguments as text, so they are read strictly. Text that is not a complete JSON
object becomes `{"__unparsedToolInput": text}`, and such a call does not run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

import msgspec

from harness.agent.conversation.content import clean_json
from harness.agent.guards.guard_protocol import UNPARSED
from harness.core.values.calls import Purpose
from harness.core.values.messages import Block, Json, Message, ToolSpec, ToolUse

MODEL = "claude-sonnet-5"
MAX_TOKENS = 4096
NAME_CHARACTERS_MAX = 64

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")

SYSTEM = (
    "You are a helpful assistant. Use the tools you are given. When something failed, say so; "
    "never claim that a failed action was done."
)


class Query(msgspec.Struct, frozen=True):
    """One request.

    Withdrawn tools stay listed, because the history has calls of them and the prompt's beginning
    must not change; the model may not use them. With `timeout_s` there is one attempt without a
    stream, because pings would keep a stream alive past any timeout.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tools_withdrawn: bool = False
    purpose: Purpose = "main"
    system: str = SYSTEM
    timeout_s: float | None = None


class ModelAnswer(msgspec.Struct, frozen=True):
    """A complete answer: the assistant message, the stop reason, and the tokens of request and
    answer by its usage; 0 without a usage."""

    message: Message
    stop: str
    tokens: int = 0


class LanguageModel(Protocol):
    """Answers queries. `show` receives text as it arrives.

    Raises ModelFailure.
    """

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer."""


def arguments_of(said: Json) -> dict[str, Any]:
    """The arguments of a call as an object. `null` is `{}`, and so is an empty text, which many
    gateways send for no arguments; any other value that is not an object is wrapped."""
    if isinstance(said, dict):
        return said
    text = said if isinstance(said, str | None) else json.dumps(said)
    try:
        value = json.loads(text or "null", parse_constant=_no_constant)
    except ValueError:
        return {UNPARSED: text}
    if value is None:
        return {}
    return value if isinstance(value, dict) else {UNPARSED: text}


def schema_of(tool: ToolSpec) -> dict[str, Json]:
    """The schema of a tool's input, for an API that takes no empty one."""
    return tool.input_schema or {"type": "object", "properties": {}}


def function_of(tool: ToolSpec) -> dict[str, Json]:
    """A tool as a function of the OpenAI APIs."""
    named = {"name": tool.name, "description": tool.description}
    return {**named, "parameters": schema_of(tool)}


def respelt(name: str) -> str:
    """A tool name that the model made up, in a form that the OpenAI APIs accept."""
    return _NOT_IN_NAMES.sub("_", name)[:NAME_CHARACTERS_MAX] or "_"


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities: Python reads them, but they are not JSON."""
    raise ValueError(name)


def answer_of(blocks: Sequence[Block], stop: str, tokens: int | None = None) -> ModelAnswer:
    """The answer, with lone halves of characters replaced, so that it can be stored."""
    message = Message("assistant", tuple(map(_whole, blocks)))
    plain = clean_json(msgspec.to_builtins(message))
    return ModelAnswer(msgspec.convert(plain, type=Message), stop, tokens or 0)


def _whole(block: Block) -> Block:
    """Wrap a call whose arguments hold half a character: cleaning would change the arguments."""
    if isinstance(block, ToolUse) and clean_json(block.input) != block.input:
        return msgspec.structs.replace(block, input={UNPARSED: json.dumps(block.input)})
    return block
