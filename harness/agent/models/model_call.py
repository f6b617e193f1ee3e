"""One call of a model: the request, the answer, and the protocol of every model.

The model writes tool arguments as text, so they are read strictly. Text that is no whole JSON
object becomes `{"__unparsedToolInput": text}`, which nothing runs.
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
from harness.core.values.messages import Block, Message, ToolSpec, ToolUse

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
    must not change; the model may not use them. `timeout_s` means one try without a stream: pings
    would keep a stream alive past any time-out.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tools_withdrawn: bool = False
    purpose: Purpose = "main"
    system: str = SYSTEM
    timeout_s: float | None = None


class ModelAnswer(msgspec.Struct, frozen=True):
    """A whole answer: the assistant message, why the model stopped, and what it says that request
    and answer cost in tokens; 0 where it does not say."""

    message: Message
    stop: str
    tokens: int = 0


class LanguageModel(Protocol):
    """Answers queries. `show` is given text as it arrives.

    Raises ModelFailure.
    """

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer."""
        ...


def arguments_of(text: str) -> dict[str, Any]:
    """Arguments as they were streamed: `null` is `{}`; what is not an object is wrapped."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return {UNPARSED: text}
    if value is None:
        return {}
    return value if isinstance(value, dict) else {UNPARSED: text}


def respelt(name: str) -> str:
    """A name that the model made up, as the APIs of OpenAI take it back."""
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
