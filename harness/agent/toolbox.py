"""The tools that the model sees, and one storable result for every call.

Providers accept unique names of letters, digits, `_` and `-`, up to 64 characters. One bad name
from a tool server makes every request fail, so it is replaced.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy, deepcopy
from itertools import count, islice

from harness.agent.conversation.content import clean, clean_json
from harness.agent.conversation.history_size import clip
from harness.agent.conversation.projection import NO_TEXT
from harness.agent.guards.guard_protocol import is_unparsed
from harness.core.values.brief import Tool
from harness.core.values.calls import Approval
from harness.core.values.messages import (
    Json,
    Opaque,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    canonical,
)

NAME_MAX_CHARACTERS = 64

_GOOD = re.compile(rf"[A-Za-z0-9_-]{{1,{NAME_MAX_CHARACTERS}}}")
_ODD = re.compile(r"[^A-Za-z0-9_-]")

MAX_RESULT_CHARACTERS = 100_000

ENDLESS = "\n[... the tool has more to say; it was stopped here]"

TOOL_TIMEOUT_S = 1800.0
"""The timeout of a tool that accepts one."""

QUESTIONS_MOST = 3
"""How often the user is asked about one call."""

_AROUND_A_PART = len('{"type":"text","text":""},')


class Toolbox:
    """The tools of one agent, by their names for the model (`tool_names`).

    A tool whose `call` takes `timeout_s` gets `timeout_s` seconds, and raises TimeoutError after
    that. A tool without that parameter cannot be stopped from outside. `ask` asks the user whether
    a call may run; it is used for the tools that need an approval.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        timeout_s: float = TOOL_TIMEOUT_S,
        ask: Callable[..., Approval] | None = None,
    ) -> None:
        self._tools = dict(zip(tool_names([tool.name for tool in tools]), tools, strict=True))
        self._limited = {tool.name for tool in tools if _takes_timeout(tool)}
        self._timeout_s, self._ask = timeout_s, ask
        self._prepare: Callable[[str], object] = lambda name: None

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as they are offered to the model."""
        return tuple(
            ToolSpec(name, tool.description, tool.input_schema)
            for name, tool in self._tools.items()
        )

    def prepared(self, prepare: Callable[[str], object]) -> Toolbox:
        """The same tools, with `prepare` called with a tool's name before each run. An error of
        `prepare` becomes an error result, like an error of the tool."""
        other = copy(self)
        other._prepare = prepare
        return other

    def with_tool(self, tool: Tool) -> Toolbox:
        """The same tools and one more, which has its own timeout if it needs one."""
        other = copy(self)
        others = {name: one for name, one in self._tools.items() if name != tool.name}
        other._tools = {**others, tool.name: tool}
        return other

    def asks_for(self, call: ToolUse) -> bool:
        """Whether a call needs the user's approval."""
        tool = self._tools.get(call.name)
        return tool is not None and tool.needs_approval and self._ask is not None

    def approved(self, call: ToolUse) -> Approval:
        """The user's answer to a call. An answer that names another call counts for that one, so
        the user is asked again, as after a failure on the way."""
        assert self._ask is not None
        name = self._tools[call.name].name
        for _ in range(QUESTIONS_MOST):
            try:
                approval = self._ask(name, deepcopy(call.input), id=call.id)
            except (RuntimeError, OSError):  # OSError: a time-out, or a lost connection
                continue
            if approval.id == call.id:
                return approval
        return Approval(call.id, "expired")

    def run(self, call: ToolUse) -> ToolResult:
        """The result of a call. A tool that raises, or does not exist, gives an error result.

        The tool gets a copy of the input. A tool that changes its input must not change the history
        or the call's identity for the guards.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            names = ", ".join(self._tools) or "none"
            return error_result(call, f"There is no tool {call.name!r}. The tools are: {names}.")
        if is_unparsed(call.input) or not isinstance(call.input, dict | None):
            return error_result(call, "Not run: the arguments were not one whole JSON object.")
        try:
            return ToolResult(call.id, content_of(self._call(tool, call)))
        except (Exception, SystemExit) as error:
            return error_result(call, _error_text(error))

    def _call(self, tool: Tool, call: ToolUse) -> Json:
        self._prepare(tool.name)
        limit = {"timeout_s": self._timeout_s} if tool.name in self._limited else {}
        return tool.call(deepcopy(call.input or {}), id=call.id, **limit)


def _takes_timeout(tool: Tool) -> bool:
    try:
        return "timeout_s" in inspect.signature(tool.call).parameters
    except (TypeError, ValueError):  # a callable written in C may have no signature
        return False


def _error_text(error: BaseException) -> str:
    """The error's text, or its class name if the text is empty or raises."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def error_result(call: ToolUse, text: str) -> ToolResult:
    """The error result of a call."""
    return ToolResult(call.id, content_of(text), is_error=True)


def content_of(value: Json) -> str | tuple[Text | Opaque, ...]:
    """A tool's return value as the content of a result: never blank, clean, and of bounded size."""
    match value:
        case bytes() | bytearray():
            return content_of(_decoded(value))
        case str():
            return clean(clip(value, MAX_RESULT_CHARACTERS)) if value.strip() else NO_TEXT
        case list() | tuple():
            return _bounded(map(_part, value)) or NO_TEXT
        case None:
            return NO_TEXT
        case Iterator():
            return content_of(_gathered(value))
    return content_of(_as_text(value))


def _gathered(pieces: Iterator[Json]) -> str:
    """The beginning of an answer in pieces; the iterator may be endless."""
    texts: list[str] = []
    left = MAX_RESULT_CHARACTERS
    for piece in islice(pieces, MAX_RESULT_CHARACTERS):
        texts.append(piece if isinstance(piece, str) else _as_text(piece))
        left -= len(texts[-1])
        if left < 0:
            return "".join(texts)[: MAX_RESULT_CHARACTERS - len(ENDLESS)] + ENDLESS
    return "".join(texts)


def _bounded(parts: Iterable[Text | Opaque]) -> tuple[Text | Opaque, ...]:
    """The first parts, up to a limit on their texts and on the characters that are sent around
    each."""
    kept: list[Text | Opaque] = []
    left = MAX_RESULT_CHARACTERS
    for part in parts:
        left -= _AROUND_A_PART + (len(part.text) if isinstance(part, Text) else 0)
        if left < 0 and kept:
            return (*kept, Text(ENDLESS.strip()))
        kept.append(part)
    return tuple(kept)


def _part(value: Json) -> Text | Opaque:
    match value:
        case Text(text) | {"type": "text", "text": str(text)}:
            return Text(str(content_of(text)))
        case Opaque():
            return value
        case {"type": str(kind), **_rest}:
            return Opaque(kind, clean_json(value))
        case str() | bytes():
            return Text(str(content_of(value)))
    return Text(str(content_of(_as_text(value))))


def _decoded(data: bytes | bytearray) -> str:
    half, size_bytes = MAX_RESULT_CHARACTERS // 2 - 100, len(data)
    if size_bytes <= MAX_RESULT_CHARACTERS:
        return data.decode("utf-8", "replace")
    ends = [part.decode("utf-8", "replace") for part in (data[:half], data[-half:])]
    return f"\n[... {size_bytes - 2 * half} bytes left out ...]\n".join(ends)


def _as_text(value: Json) -> str:
    try:
        return canonical(value)
    except (TypeError, ValueError):
        return str(value)


def tool_names(names: Sequence[str]) -> list[str]:
    """For each name, a unique name that every provider accepts."""
    used = {name for name in names if _GOOD.fullmatch(name)}
    return [name if _GOOD.fullmatch(name) else _made(name, used) for name in names]


def _made(name: str, used: set[str]) -> str:
    like = _ODD.sub("_", name)[:NAME_MAX_CHARACTERS] or "tool"
    tails = ("" if n == 1 else f"_{n}" for n in count(1))
    made = next(
        m for m in (like[: NAME_MAX_CHARACTERS - len(t)] + t for t in tails) if m not in used
    )
    used.add(made)
    return made
