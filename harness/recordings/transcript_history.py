"""A transcript as a history, so that the checks that judge live runs judge recordings too.

Each assistant message answers a model call; its request is all before it, from the last compaction
on. A log that ends with the user has a last call without an answer. A result without a call, or a
second one, is an answer too. No inbox: the world is `recording`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.core.history.history import History
from harness.core.values.calls import ModelRequest, Seam, ToolRequest
from harness.core.values.messages import Message, ToolResult, side
from harness.core.values.plans import ApiError, ToolAnswer
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.validator import AnthropicFold
from harness.recordings.lost_results import with_lost_results
from harness.recordings.pairing import Pairing, pair
from harness.recordings.transcripts import Transcript

SESSION = "main"


def to_history(transcript: Transcript, dialect: str | None = None) -> History:
    """The history of a transcript. Its size is that of the transcript, however long it is.

    `dialect`: rules of the wire by which each request is judged into `called.refused`; None
    judges none. Raises InputError for a dialect that the wire has not got.
    """
    return _HistoryWriter(transcript.spoken, dialect).write()


class _HistoryWriter:
    def __init__(self, transcript: Transcript, dialect: str | None) -> None:
        found, self.history = pair(transcript), History()
        self.transcript = with_lost_results(transcript, found)
        is_whole = self.transcript is transcript
        self.pairing: Pairing = found if is_whole else pair(self.transcript)
        self._dialect = dialect if dialect and transcript.wire == RECORD.name else ""
        self._fold = AnthropicFold(self._dialect) if self._dialect else None
        self._names: list[str] = []
        self._system = self._tools = self._after = ""
        self._new: list[int] = []
        self._shown = 0
        self._calls = 0
        self._results = iter(self.pairing.results)
        self._keys: list[str] = []
        self._used: dict[str, int] = {}

    def write(self) -> History:
        transcript = self.transcript
        self.history.started(
            run=transcript.name, scenario=transcript.name, wire=transcript.wire,
            world="recording", stream=transcript.stream, seams=self._seams(),
            inferred=not transcript.exchange, unread=transcript.unread,
            settings={"dialect": self._dialect} if self._dialect else {},
        )  # fmt: skip
        self._system = self.history.value(transcript.system)
        self._tools = self.history.value([msgspec.to_builtins(tool) for tool in transcript.tools])
        for index, message in enumerate(transcript.messages):
            whose = side(message)
            if whose == "assistant":
                self._model_call()
                self._model_answer(index, message)
            if whose != "system":
                self._tool_calls(message)
                self._tool_results(message)
            self._take(index, message)
        if transcript.exchange and not transcript.answered:
            self._model_call()
            self._model_error()
        elif self._waits():
            self._model_call()
        self.history.ended(how="recorded")
        return self.history

    def _waits(self) -> bool:
        """Whether a log ends with words of the user, which no answer follows."""
        last = self.transcript.said[-1:]
        user_ends = self.transcript.roles and bool(last) and side(last[0]) == "user"
        if not user_ends or self.transcript.exchange:
            return False
        results = [isinstance(block, ToolResult) for block in last[0].blocks]
        return not results or not all(results)

    def _seams(self) -> tuple[Seam, ...]:
        used = self.pairing.calls or self.pairing.results or self.transcript.tools
        return ("model", "tool") if used else ("model",)

    def _take(self, index: int, message: Message) -> None:
        self._name(index, message)
        if index in self.transcript.restarts:
            self._begin_anew(index, self.transcript.restarts[index])
        else:
            self._show(index)

    def _name(self, index: int, message: Message) -> str:
        """The digest of a message, which is the newest one."""
        if index == len(self._names):
            self._names.append(self.history.note(message))
        return self._names[index]

    def _begin_anew(self, index: int, kept: int) -> None:
        """The context is now message `index`, and those from `kept` on before it."""
        self._after, self._shown, self._new = "", 0, []
        self._fold = AnthropicFold(self._dialect) if self._dialect else None
        for shown in (index, *range(kept, index)):
            self._show(shown)

    def _show(self, index: int) -> None:
        self._new.append(index)
        if self._fold is not None:
            self._fold.extend([(self.transcript.messages[index], None)])

    def _model_call(self) -> None:
        self._calls += 1
        key = f"{SESSION}/model#{self._calls}"
        last = self.transcript.messages[self._new[-1]] if self._new else None
        refused = () if self._fold is None else tuple(v.rule for v in self._fold.finish(last))
        request = ModelRequest(
            model=self.transcript.model,
            messages=tuple(self._names[index] for index in self._new),
            after=self._after,
            keep=self._shown,
            system=self._system,
            tools=self._tools,
            tools_offered=bool(self.transcript.tools),
            max_tokens=self.transcript.max_tokens,
            stream=self.transcript.stream,
            stateful=self.transcript.stateful,
        )
        self.history.called(
            session=SESSION, key=key, seam="model", request=request, refused=refused,
            provider=self.transcript.wire,
        )  # fmt: skip
        self._after, self._shown, self._new = key, self._shown + len(self._new), []

    def _model_answer(self, index: int, message: Message) -> None:
        failure = self.transcript.failures.get(index)
        if failure is not None:
            self._logged_error(index, message, failure)
            return
        last = index == len(self.transcript.messages) - 1
        recorded = last and self.transcript.answered
        complete = self.transcript.complete if recorded else True
        said = self.transcript.answers.get(index)
        self._answer_model(
            blocks=self._name(index, message) if said is None else self.history.note(said),
            stop=self.transcript.stops.get(index),
            status=self.transcript.status if recorded else None,
            complete=complete,
            outcome="ok" if complete else "error",
        )

    def _logged_error(self, index: int, message: Message, failure: ApiError) -> None:
        self._answer_model(
            blocks=self._name(index, message),
            status=failure.status or None,
            error=failure.type,
            value=failure.message,
            complete=False,
            outcome="error",
        )

    def _model_error(self) -> None:
        status, error = self.transcript.status, self.transcript.error
        kind = error.type if error else ""
        self._answer_model(status=status, error=kind, complete=False, outcome="error")

    def _answer_model(self, **fields: Any) -> None:
        self.history.answered(session=SESSION, key=self._after, seam="model", **fields)

    def _tool_calls(self, message: Message) -> None:
        for use in message.tool_uses:
            key = self._key(use.id)
            self._keys.append(key)
            request = ToolRequest(use.id, use.name, use.input)
            self.history.called(session=SESSION, key=key, seam="tool", request=request)

    def _key(self, id_: str) -> str:
        """A unique key, though ids may be missing or used twice."""
        name = f"{SESSION}/tool:{id_ or 'no-id'}"
        self._used[name] = self._used.get(name, 0) + 1
        return name if self._used[name] == 1 else f"{name}#{self._used[name]}"

    def _tool_results(self, message: Message) -> None:
        for result in message.tool_results:
            call = next(self._results).call
            key = f"{SESSION}/tool:{result.id or 'no-id'}" if call is None else self._keys[call]
            self.history.answered(
                session=SESSION, key=key, seam="tool", value=_value(result),
                outcome="error" if result.is_error else "ok",
            )  # fmt: skip


def _value(result: ToolResult) -> Any:
    content = result.content
    plain = content if isinstance(content, str) else [msgspec.to_builtins(b) for b in content]
    return msgspec.to_builtins(ToolAnswer(plain, result.is_error))
