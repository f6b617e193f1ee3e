"""The calls that an answer asks for: wrong agents that mix, cut or complete them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import is_on
from harness.agent.guards.guard_protocol import UNPARSED
from harness.agent.models.anthropic_blocks import read_block
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.failures import ModelFailure, stream_pieces
from harness.agent.models.model_call import MAX_TOKENS, MODEL, ModelAnswer, Query, answer_of
from harness.agent.models.openai_chat_model import OpenAIChatModel, _ChatAnswer
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Json, Message, ToolUse, assistant, results
from tests.mutants import mutant
from tests.mutants.second_model import SecondModel, Show, build_with, with_blocks


class AnswersWithResultMessage(SecondModel):
    """Takes a message for an answer because it looks like one."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """A failure that no exception caused came as a message."""
        if failure.__cause__ is None and failure.kind == "overflow":
            return ModelAnswer(assistant(failure.text), "end_turn")
        raise failure


@mutant(
    breaks="model",
    statement="A result message `success`, Prompt is too long, is the answer (AutoGPT #12625)",
    scenario="overflow-shapes/result-message",
    killed_by="truthful_outcome.synthetic",
)
def answers_with_result_message(brief: Brief) -> None:
    """A wrapper's message about its failure is stored and sent as the answer.

    The reference agent that trusts every message.
    """
    build_with(AnswersWithResultMessage, brief)


class BrokenInputRunsEmpty(OpenAIChatModel):
    """Does not wait for the reason of the end."""

    def _streamed(
        self, endpoint: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        heard = _ChatAnswer()
        for chunk in stream_pieces(endpoint.create(**params, stream=True)):
            for choice in chunk.choices or ():
                heard._take_message(choice.delta)
        heard._stop = "stop"
        answer = with_blocks(heard.answer(), emptied)
        is_call = bool(answer.message.tool_uses)
        return msgspec.structs.replace(answer, stop="tool_use") if is_call else answer


def emptied(block: Block) -> Block:
    """A call without the input that cannot be read."""
    if isinstance(block, ToolUse) and UNPARSED in block.input:
        return msgspec.structs.replace(block, input={})
    return block


@mutant(
    breaks="model",
    statement="A cut call to delete one folder deletes all folders (fault S3)",
    scenario="strands-unreadable-input-runs-empty@openai-chat+stream",
    killed_by="args_complete.incomplete",
)
def broken_input_runs_empty(brief: Brief) -> None:
    """A stream that ends inside the input of a call gives a call without input, and it is run.

    The reference agent that trusts a stream without an end.
    """
    build(brief, model=BrokenInputRunsEmpty(brief.openai(), stream=True)).run()


class FirstCall(SecondModel):
    """Drops all calls but the first."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer without its later calls."""
        later = answer.message.tool_uses[1:]
        kept = tuple(block for block in answer.message.blocks if block not in later)
        return msgspec.structs.replace(answer, message=Message("assistant", kept))


@mutant(
    breaks="model",
    statement="The loop reads `tool_calls[0]`, so the second call of two never runs (fault M13)",
    scenario="one-of-many-fails",
    killed_by="calls_handled.dropped",
)
def keeps_the_first_call(brief: Brief) -> None:
    """Of several calls in an answer, the first one is kept.

    The reference agent that runs one call of each answer.
    """
    build_with(FirstCall, brief)


class TakesWhatCame(AnthropicModel):
    """Takes what came of a stream, and knows by its reason whether that is all."""

    def _streamed(
        self, endpoint: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        with endpoint.stream(**params) as stream:
            message = stream.get_final_message()
        blocks = [read_block(block.to_dict()) for block in message.content]
        return answer_of(blocks, self.stop_of(message))

    def stop_of(self, message: Any) -> str:
        """The reason with which an answer ended."""
        return message.stop_reason or "max_tokens"


class RunsHalfACall(TakesWhatCame):
    """Does not wait for the terminal event."""

    def stop_of(self, message: Any) -> str:
        """The reason that the blocks would have."""
        has_calls = any(block.type == "tool_use" for block in message.content)
        return "tool_use" if has_calls else "end_turn"


@mutant(
    breaks="model",
    statement="A call whose stream broke off is run with repaired arguments (hermes-agent#89207)",
    scenario="answer-breaks-off/inside-a-call+stream",
    killed_by="stream_error_handled.executed",
)
def runs_half_a_call(brief: Brief) -> None:
    """A stream that simply ends is a whole answer, as the SDK takes it, and its calls are run.

    The reference agent that trusts the SDK.
    """
    build(brief, model=RunsHalfACall(brief.anthropic(), stream=True)).run()


class _Interrupting(Loop):
    words = "Interrupted."

    def reject_cut_off(self, calls: Sequence[ToolUse], stop: str) -> None:
        self.transcript.append(results(*(error_result(call, self.words) for call in calls)))


class _Explaining(_Interrupting):
    words = "Not run: the answer broke off."


def _right_says_that_half_a_call_was_not_run(brief: Brief) -> None:
    """The agent that keeps the call, and says that it came in part."""
    build(brief, model=TakesWhatCame(brief.anthropic(), stream=True), turn=_Explaining).run()


@mutant(
    breaks="model",
    statement="A call of a stream that broke off is kept, and told as one that was interrupted",
    scenario="answer-breaks-off/inside-a-call+stream",
    killed_by="stream_error_handled.stored",
    look_alike=_right_says_that_half_a_call_was_not_run,
)
def keeps_half_a_call(brief: Brief) -> None:
    """Half a call is stored with the result of one that ran, so the model reads that it may have.

    The reference agent that interrupts what never began.
    """
    build(brief, model=TakesWhatCame(brief.anthropic(), stream=True), turn=_Interrupting).run()


class ByPlace:
    """The SDK's resource, without the ids of calls whose place is taken."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions

    def create(self, **params: Any) -> Iterator[Any]:
        """The chunks, in which only the first id at a place is left."""
        taken: set[int] = set()
        for chunk in self._completions.create(**params):
            for choice in chunk.choices or ():
                for call in choice.delta.tool_calls or ():
                    call.id = None if call.index in taken else call.id
                    taken.add(call.index)
            yield chunk


class GluingModel(OpenAIChatModel):
    """Does not look at ids."""

    def _opened(self, endpoint: Any, params: dict[str, Any]) -> AbstractContextManager[Any]:
        return super()._opened(ByPlace(endpoint), params)


@mutant(
    breaks="model",
    statement="A clone numbered all calls 0: web_searchweb_search, with both inputs (119)",
    scenario="calls-glued-together@openai-chat+stream",
    killed_by="calls_handled.misread",
)
def tells_calls_apart_by_place(brief: Brief) -> None:
    """The pieces of a call are put together by the number of its place alone.

    The reference agent that glues calls together.
    """
    model = GluingModel(brief.openai(), is_on(brief, "stream"), MODEL, MAX_TOKENS)
    build(brief, model=model).run()


ENDS = ("}", '"}', "]}", '"]}', "null}", '":null}')
"""What completes a cut object of one level."""


class Repairing(SecondModel):
    """Takes a cut answer for a whole one, and repairs its calls."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer with calls that can be run."""
        whole = with_blocks(answer, repaired)
        return answer if whole == answer else msgspec.structs.replace(whole, stop="tool_use")


def repaired(block: Block) -> Block:
    """A call with the arguments that could be saved."""
    if not isinstance(block, ToolUse) or UNPARSED not in (block.input or {}):
        return block
    return msgspec.structs.replace(block, input=saved(str(block.input[UNPARSED])))


def saved(text: str) -> Json:
    """The longest beginning of a text that becomes JSON with an end."""
    for length in range(len(text), 0, -1):
        for end in ENDS:
            try:
                return json.loads(text[:length].rstrip(", ") + end)
            except ValueError:
                continue
    return {}


@mutant(
    breaks="model",
    statement="A payment that was cut from 1500 to 15 is made (fault M7; incidents 114)",
    scenario="llama-index-cut-call-runs@openai-chat+stream",
    killed_by="args_complete.truncated",
)
def repairs_cut_arguments(brief: Brief) -> None:
    """Arguments that were cut are closed with the brackets that they lack, and the call is run.

    The reference agent that repairs what was cut.
    """
    build_with(Repairing, brief)


class Announced(SecondModel):
    """Keeps the last words beside a call."""

    words = ""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer, or those words for one that is blank."""
        if answer.message.tool_uses:
            self.words = answer.message.text or self.words
        is_blank = not (answer.message.tool_uses or answer.message.text.strip())
        if not (is_blank and self.words):
            return answer
        return msgspec.structs.replace(answer, message=assistant(self.words))


@mutant(
    breaks="model",
    statement="After a blank answer an announcement is the reply (NousResearch/hermes-agent#7968)",
    scenario="nothing-said-once/after-an-announcement",
    killed_by="reply_carried.stand_in",
)
def announces_in_place_of_an_answer(brief: Brief) -> None:
    """The words before a call are delivered where the model said nothing after it.

    The reference agent that falls back on its announcements.
    """
    build_with(Announced, brief)
