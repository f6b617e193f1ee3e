"""Answers read from a stream: wrong agents that read half of it, or believe what is torn."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.composition import is_on
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import MAX_TOKENS, MODEL, ModelAnswer, Query
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Message, Text, ToolUse, assistant
from tests.mutants import mutant
from tests.mutants.second_model import SecondModel, Show, build_with, with_blocks


class DeafToErrorEvents(SecondModel):
    """Does not read error events."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """A failure of a stream that began with 200 is a broken stream."""
        status = getattr(failure.__cause__, "status_code", None)
        raise ModelFailure("broken_stream", failure.text) if status == 200 else failure


@mutant(
    breaks="model",
    statement="A context error inside a stream is retried as it is (AutoGPT #12625; wire A5)",
    scenario="overflow-shapes/error-event+stream",
    killed_by="request_fits.again",
)
def deaf_to_error_events(brief: Brief) -> None:
    """Any error event in a stream counts as a broken stream.

    The reference agent that takes every failure of a stream for noise.
    """
    build_with(DeafToErrorEvents, brief)


class Piecewise(SecondModel):
    """Reads text byte by byte."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer as its bytes say it one by one."""
        said = answer.message.blocks
        blocks = tuple(Text(_decoded(b.text)) if isinstance(b, Text) else b for b in said)
        return ModelAnswer(Message("assistant", blocks), answer.stop)


def _decoded(text: str) -> str:
    return "".join(bytes([byte]).decode("utf-8", "replace") for byte in text.encode())


@mutant(
    breaks="model",
    statement="Characters over two chunks become U+FFFD (incident 183)",
    scenario="characters-over-chunks+stream",
    killed_by="stream_error_handled.chunks",
)
def decodes_each_chunk(brief: Brief) -> None:
    """Each piece of the network is decoded by itself, so a character over two of them is lost.

    The reference agent whose client decodes each piece of the network.
    """
    build_with(Piecewise, brief)


class Content(SecondModel):
    """Is content with what came."""

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer, or as much of it as there is."""
        came: list[str] = []

        def note(text: str) -> None:
            came.append(text)
            if show is not None:
                show(text)

        try:
            return super().query(query, note)
        except ModelFailure as failure:
            if failure.kind != "broken_stream" or not came:
                raise
            return ModelAnswer(assistant("".join(came)), "end_turn")


@mutant(
    breaks="model",
    statement="A stream that ends without its end is a success (faults S1; litellm #6532)",
    scenario="answer-breaks-off/reset+stream",
    killed_by="stream_error_handled.passed_off",
)
def delivers_half_an_answer(brief: Brief) -> None:
    """An answer that broke off is taken for one that ended.

    The reference agent that does not wait for the end.
    """
    build_with(Content, brief)


class HalfAnswerIsWhole(SecondModel):
    """Takes a stop for an end."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """What stopped has ended."""
        if answer.stop == "model_context_window_exceeded":
            return msgspec.structs.replace(answer, stop="end_turn")
        return answer


@mutant(
    breaks="model",
    statement="Half an answer is delivered as a success (wire A5, shape c)",
    scenario="overflow-shapes/stop-reason",
    killed_by="truthful_outcome.truncated",
)
def half_answer_is_whole(brief: Brief) -> None:
    """The stop reason of an answer that met the end of the window is not looked at.

    The reference agent that does not ask why an answer stopped.
    """
    build_with(HalfAnswerIsWhole, brief)


class BadCallIsAnEnd(SecondModel):
    """Takes a stop reason that it does not know for an end."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer, with words in place of a call that was badly written."""
        if answer.stop != "MALFORMED_FUNCTION_CALL":
            return answer
        said = assistant(Text("(no text)"))
        return msgspec.structs.replace(answer, stop="end_turn", message=said)


@mutant(
    breaks="model",
    statement="A call that Gemini wrote badly is an end (NousResearch/hermes-agent#83869)",
    scenario="bad-endings/malformed-call@gemini+stream",
    killed_by="truthful_outcome.unfinished",
)
def takes_a_bad_call_for_an_end(brief: Brief) -> None:
    """An unknown stop reason is read as an end, and the user is told "(no text)" as an answer.

    The reference agent behind such a client.
    """
    build_with(BadCallIsAnEnd, brief)


class KnowsOneLineEnd(SecondModel):
    """Finds no event in a stream with other line ends."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """No answer: the stream ended, and no event had come."""
        raise ModelFailure("broken_stream", "no event in the stream")


@mutant(
    breaks="model",
    statement="A parser knows one line end, and tells of a failure (incident 184)",
    scenario="characters-over-chunks/crlf+stream",
    killed_by="answer_taken.unread",
)
def knows_one_line_end(brief: Brief) -> None:
    """A parser of streams that waits for the end of an event in one form only.

    The reference agent whose client knows one line end.
    """
    build_with(KnowsOneLineEnd, brief)


class WithoutTheLastPiece(SecondModel):
    """Reads the last call without the end of its arguments."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer, its last call cut."""
        last = answer.message.tool_uses[-1:]

        def cut(block: Block) -> Block:
            if not isinstance(block, ToolUse) or block not in last:
                return block
            return msgspec.structs.replace(block, input=json.dumps(block.input)[:-1])

        return with_blocks(answer, cut)


@mutant(
    breaks="model",
    statement="A chunk with `finish_reason` is taken for the end (jeremychone/rust-genai#164)",
    scenario="calls-glued-together/all-in-the-last-chunk@openai-chat+stream",
    killed_by="calls_handled.misread",
)
def loses_the_last_piece(brief: Brief) -> None:
    """What stands in the chunk with the finish reason is lost.

    The reference agent behind such a client.
    """
    build_with(WithoutTheLastPiece, brief)


def _as_it_is(stream: Any) -> Any:
    return stream


class Unwatched(AnthropicModel):
    """Believes that a connection that is open will say something."""

    watched = staticmethod(_as_it_is)


@mutant(
    breaks="model",
    statement="Sessions freeze for 25 to 109 minutes on a stream that only pings (pi #8331)",
    scenario="silent-provider+stream",
    killed_by="bounded_wait.answer",
)
def no_stream_watchdog(brief: Brief) -> None:
    """A time-out of reads is the only watch over a stream, and pings keep resetting it.

    The reference agent without a watchdog.
    """
    build(brief, model=Unwatched(brief.anthropic(), stream=True)).run()


def _for_a_minute(stream: Any) -> Any:
    began = time.monotonic()
    for event in stream:
        if time.monotonic() - began > 60:
            raise ModelFailure("broken_stream", "the answer took more than a minute")
        yield event


class ReadsForAMinute(AnthropicModel):
    """Gives each answer a minute, to its end."""

    watched = staticmethod(_for_a_minute)


@mutant(
    breaks="model",
    statement="A limit of the whole answer ends a healthy stream, and asks again (fault T8)",
    scenario="slow-and-alive/eighty-seconds-of-words+stream",
    killed_by="answer_taken.left",
)
def reads_for_a_minute(brief: Brief) -> None:
    """A stream that still brings words is broken off after a minute, and asked for again.

    The reference agent with a limit of the whole answer.
    """
    build(brief, model=ReadsForAMinute(brief.anthropic(), stream=True)).run()


class FirstChoices:
    """The SDK's client, with streams that end at a chunk without choices."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        return type(self)(value) if name in ("chat", "completions") else value

    def with_options(self, **options: Any) -> FirstChoices:
        """The same with other options."""
        return type(self)(self._client.with_options(**options))

    def create(self, **params: Any) -> Any:
        """An answer."""
        answer = self._client.create(**params)
        return self.read(answer) if params.get("stream") else answer

    def read(self, chunks: Any) -> Iterator[Any]:
        """The chunks of a stream."""
        for chunk in chunks:
            try:
                chunk.choices[0]
            except IndexError as error:
                raise ModelFailure("broken_stream", str(error)) from None
            yield chunk


@mutant(
    breaks="model",
    statement="A chunk without choices is an index error (fault S19, Azure's content filter)",
    scenario="first-chunk-without-choices@openai-chat+stream",
    killed_by="answer_taken.unread",
)
def reads_the_first_choice_of_each_chunk(brief: Brief) -> None:
    """Each chunk of a stream is taken to have a choice; one without fails as a broken stream.

    The reference agent with a client that reads first choices.
    """
    stream = bool(brief.options.get("stream"))
    build(brief, model=OpenAIChatModel(FirstChoices(brief.openai()), stream, MODEL)).run()


class FirstCalls(FirstChoices):
    """The SDK's client, with one call in each chunk of a stream."""

    def read(self, chunks: Any) -> Iterator[Any]:
        """The chunks of a stream."""
        for chunk in chunks:
            for choice in chunk.choices:
                choice.delta.tool_calls = (choice.delta.tool_calls or [])[:1]
            yield chunk


@mutant(
    breaks="model",
    statement="Only the first call of a chunk is read (BerriAI/litellm#27638)",
    scenario="calls-in-other-forms@openai-chat+stream",
    killed_by="calls_handled.dropped",
)
def reads_the_first_call_of_each_chunk(brief: Brief) -> None:
    """A server that sends two calls in one chunk is read as if it had sent one.

    The reference agent with a client that reads first calls.
    """
    stream = bool(brief.options.get("stream"))
    build(brief, model=OpenAIChatModel(FirstCalls(brief.openai()), stream, MODEL)).run()


class ReadsToTheFirstFinishReason:
    """The SDK's resource, whose streams end with the first reason for an end."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions

    def create(self, **params: Any) -> Iterator[Any]:
        """The chunks up to that reason."""
        for chunk in self._completions.create(**params):
            yield chunk
            if any(choice.finish_reason for choice in chunk.choices or ()):
                return


class HastyModel(OpenAIChatModel):
    """Reads no further than it must."""

    def _opened(self, endpoint: Any, params: dict[str, Any]) -> AbstractContextManager[Any]:
        return super()._opened(ReadsToTheFirstFinishReason(endpoint), params)


@mutant(
    breaks="model",
    statement="A client stopped at the first finish reason, and lost the call behind it (row 120)",
    scenario="end-told-too-early@openai-chat+stream",
    killed_by="no_false_stop.ended",
)
def reads_to_the_first_finish_reason(brief: Brief) -> None:
    """The stream is taken to be over as soon as it names a reason for its end.

    The reference agent that leaves before the end.
    """
    model = HastyModel(brief.openai(), is_on(brief, "stream"), MODEL, MAX_TOKENS)
    build(brief, model=model).run()


class Sewn(SecondModel):
    """Puts what came of each failed attempt before the answer."""

    came = ""

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer, behind the parts that came before it."""
        parts: list[str] = []
        try:
            answer = self.inner.query(query, parts.append)
        except ModelFailure:
            self.came += "".join(parts)
            raise
        kept, self.came = self.came, ""
        if not kept:
            return answer
        blocks = (Text(kept), *answer.message.blocks)
        message = msgspec.structs.replace(answer.message, blocks=blocks)
        return msgspec.structs.replace(answer, message=message)


@mutant(
    breaks="model",
    statement="Beginnings of broken streams and the answer are one reply (hermes-agent#86572)",
    scenario="reply-as-the-model-said-it/after-broken-streams+stream",
    killed_by="reply_carried.sewn",
)
def sews_broken_streams(brief: Brief) -> None:
    """What came of a broken stream is kept, and the next attempt begins at the start.

    The reference agent that keeps the parts of broken answers.
    """
    build_with(Sewn, brief)
