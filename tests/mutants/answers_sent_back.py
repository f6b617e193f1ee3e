"""How an answer of the model goes back to it: wrong agents that change it on that way."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Json, Message, Text, ToolUse, assistant
from tests.mutants import mutant
from tests.mutants.second_model import SecondModel, Show, build_with


class _SentBack(SecondModel):
    """Sends each message of the history changed."""

    change: Callable[[Message], Message]

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer to a request with the changed messages."""
        messages = tuple(map(type(self).change, query.messages))
        return super().query(msgspec.structs.replace(query, messages=messages), show)


def _with_inputs(alter: Callable[[Json], Json]) -> Callable[[Message], Message]:
    def read(block: Block) -> Block:
        if not isinstance(block, ToolUse):
            return block
        return msgspec.structs.replace(block, input=alter(block.input))

    def changed(message: Message) -> Message:
        return msgspec.structs.replace(message, blocks=tuple(map(read, message.blocks)))

    return changed


class Rounding(_SentBack):
    """Reads the numbers of its own calls as floats."""

    change = staticmethod(
        _with_inputs(
            lambda said: json.loads(json.dumps(said), parse_int=lambda digits: int(float(digits)))
        )
    )


@mutant(
    breaks="model",
    statement="Numbers of a call are rounded where it is sent again (earendil-works/pi#8943)",
    scenario="results-that-steer-the-program/an-account-above-two-to-the-53rd",
    killed_by="calls_handled.rewritten",
)
def rounds_its_own_calls(brief: Brief) -> None:
    """The tool gets the number of the model, and the history says another one.

    The reference agent that writes its calls by floats.
    """
    build_with(Rounding, brief)


class Emptying(_SentBack):
    """Keeps of its calls the names alone."""

    change = staticmethod(_with_inputs(lambda said: {}))


@mutant(
    breaks="model",
    statement="A call goes back to the model without its input",
    scenario="what-the-tools-said",
    killed_by="calls_handled.altered",
)
def forgets_the_inputs_of_its_calls(brief: Brief) -> None:
    """The tool gets the whole input, and the history says `{}`.

    The reference agent that sends its calls back without their inputs.
    """
    build_with(Emptying, brief)


def _halved(message: Message) -> Message:
    if message.role != "assistant" or message.tool_uses:
        return message
    return assistant(Text(message.text[: len(message.text) // 2] or "-"))


class Halving(_SentBack):
    """Keeps of each answer without calls its first half."""

    change = staticmethod(_halved)


@mutant(
    breaks="model",
    statement="A reply goes back to the model without its end",
    scenario="reply-as-the-model-said-it",
    killed_by="history_faithful.cut_reply",
)
def sends_halves_of_its_replies(brief: Brief) -> None:
    """The user reads the whole reply, and the next request holds its first half.

    The reference agent that keeps half of each reply.
    """
    build_with(Halving, brief)
