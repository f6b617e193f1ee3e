"""The script: the answers of the fake model, the tools and the user, as a function of the past.

A turn is consumed when its answer is sent completely. A refused, cut or replaced answer comes again
on the next call. An open script allows agents with other policies. A repetition ends with the
message that started it, and past the end the closing turn is repeated.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TypeVar

import msgspec

from harness.core.history.past import Past
from harness.core.scenario.scenario import (
    CassetteScript,
    Policy,
    RequestText,
    Scenario,
    Times,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import (
    Block,
    Json,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    strings_in,
)
from harness.core.values.plans import Reply, ToolAnswer, Value
from harness.core.values.profile import Results

FOREVER = 1 << 62
_T = TypeVar("_T", Turn, ToolTurn)
_Entry = tuple[int, Turn, int]
_Lane = list[_Entry]
"""The turns of one purpose in order: index in the whole script, turn, times to play."""
_INDEX = itemgetter(0)


AFTER_ALL = Turn(say="Done.", optional=True, times="forever")
"""The answer to each further question, where an agent asks more often than a script has answers."""


def without_end(scenario: Scenario) -> Scenario:
    """The scenario for a run that leaves the course for which it was written: its script ends with
    an answer for each further question, and binds the agent to nothing. A cassette stays one."""
    script = scenario.script
    if not isinstance(script, CassetteScript):
        script = (*script, AFTER_ALL)
    return msgspec.structs.replace(scenario, script=script, policy="open")


def count(times: Times) -> int:
    """`times` as a number."""
    return FOREVER if times == "forever" else times


class TurnScript:
    """The scripted model: turns in order, one lane for each purpose."""

    def __init__(
        self,
        turns: Sequence[Turn],
        draws: Draws,
        policy: Policy = "strict",
        results: Results = "blocks",
    ) -> None:
        self._draws, self._is_open, self._results = draws, policy == "open", results
        self._replies: dict[int, tuple[Reply, bool]] = {}
        self._lanes: dict[str, _Lane] = {}
        for index, turn in enumerate(turns):
            self._lanes.setdefault(turn.purpose, []).append((index, turn, count(turn.times)))

    def reply(self, call: Call, past: Past) -> tuple[Value, int | None] | None:
        """The reply that is due, or None past the end of a strict script."""
        lane = self._lanes.get(call.purpose, [])
        due = self._due(lane, call, past)
        if due is None:
            return (_closing(lane, call), None) if self._is_open else None
        return self.answer(due[0], due[1], call)

    def answer(self, index: int, turn: Turn, call: Call) -> tuple[Value, int | None]:
        """The reply of a turn to a call, and its index."""
        known = self._replies.get(index)
        if known is None:
            reply = _unnamed(turn)
            known = self._replies[index] = reply, reply == _named(reply, self._draws, "")
        reply, is_named = known
        return reply if is_named else _named(reply, self._draws, call.key), index

    def _due(self, lane: _Lane, call: Call, past: Past) -> _Entry | None:
        """The turn that is due; a conditional turn whose condition holds ends the running one
        before it."""
        last = past.last_played.get(f"model:{call.purpose}", 0)
        for place in range(bisect_left(lane, last, key=_INDEX) if last else 0, len(lane)):
            index, turn, times = lane[place]
            plays = past.plays.get(("model", index), 0)
            if self._is_open and plays and _is_left_behind(turn, call, past):
                continue
            if plays < times and (turn.when is None or self._holds(turn, call, past)):
                ending = self._ending(lane, place, call, past) if plays else None
                return ending or lane[place]
        return None

    def _ending(self, lane: _Lane, place: int, call: Call, past: Past) -> _Entry | None:
        for later in range(place + 1, len(lane)):
            turn = lane[later][1]
            if turn.when is None:
                return None
            if self._holds(turn, call, past):
                return lane[later]
        return None

    def _holds(self, turn: Turn, call: Call, past: Past) -> bool:
        if turn.when is None:
            return True
        if isinstance(turn.when, RequestText):
            return meets(turn.when, call)
        if turn.when == "ended":
            return isinstance(call.request, ModelRequest) and not call.request.tools_offered
        return _is_refused(call, past, self._results)

    def unplayed(self, past: Past) -> Iterator[str]:
        """Yield the required turns (unconditional, not optional) that were never played."""
        for lane in self._lanes.values():
            for index, turn, _ in lane:
                if turn.is_owed and not past.plays["model", index]:
                    yield f"script turn {index + 1} ({describe(turn)})"


def _is_left_behind(turn: Turn, call: Call, past: Past) -> bool:
    """Whether a repeated tool call belongs to a user turn that has ended."""
    message = past.played_for.get(f"model:{call.purpose}", ("", ""))
    return bool(message[1] and called(turn)) and not past.is_worked_on(message)


_CALLS = ("tool_use", "server_tool_use")


def called(turn: Turn) -> list[str]:
    """The tools that a turn calls, in order, each as often as it is called."""
    blocks = (str(b.get("name")) for b in turn.blocks if b.get("type") in _CALLS)
    return [*([turn.use] if turn.use is not None else []), *blocks]


_CLOSING_TEXTS = {
    "main": "That is all.",
    "compact": "Summary: the conversation so far, in short.",
    "aux": "OK",
}
"""The model's text where a lane has no turn for a request, by purpose."""


def closing_words(call: Call) -> Reply:
    """The model's words to a request that offers no tool for the call that is due."""
    return Reply((Text(_CLOSING_TEXTS[call.purpose]),), "end_turn", {})


def _closing(lane: _Lane, call: Call) -> Reply:
    """The last turn of a lane that ends in order with a text, or plain words."""
    said = [turn for _, turn, _ in lane if _closes(turn)]
    turn = said[-1] if said else Turn(say=_CLOSING_TEXTS[call.purpose])
    return _unnamed(turn)


def _closes(turn: Turn) -> bool:
    texts = [turn.say or "", *(str(b.get("text", "")) for b in turn.blocks)]
    in_order = turn.stop in (None, "end_turn") and not turn.usage and not called(turn)
    return in_order and any(text.strip() for text in texts)


def _is_refused(call: Call, past: Past, results: Results) -> bool:
    """Whether the request answers a call that was never run. Text results have no ids, and some
    agents give their own, so then the calls of the newest answer count."""
    last = call.messages[-1] if call.messages else None
    if last is None:
        return False
    answered = tuple(result.id for result in last.tool_results)
    asked = past.asked.get(call.session, ())
    has_own_ids = len(answered) == len(asked) and not set(asked).intersection(answered)
    if has_own_ids or (results == "text" and not answered and last.role == "user"):
        answered = asked
    return any(id not in past.crossed for id in answered)


def model_reply(turn: Turn, draws: Draws, key: str) -> Reply:
    """The reply of a turn; missing ids are drawn from the call's key."""
    return _named(_unnamed(turn), draws, key)


def _unnamed(turn: Turn) -> Reply:
    blocks = (*_short_form(turn), *(block_from(dict(b)) for b in turn.blocks))
    calls_tools = any(isinstance(b, ToolUse) for b in blocks)
    stop = turn.stop or ("tool_use" if calls_tools else "end_turn")
    said = None if stop == "null" else stop
    return Reply(blocks, said, dict(turn.usage), unoffered=turn.unoffered)


def _named(reply: Reply, draws: Draws, key: str) -> Reply:
    nameless = [n for n, b in enumerate(reply.blocks) if isinstance(b, ToolUse) and not b.id]
    if not nameless:
        return reply
    blocks = list(reply.blocks)
    for n in nameless:
        blocks[n] = msgspec.structs.replace(blocks[n], id=draws.identifier("toolu_", key, str(n)))
    return msgspec.structs.replace(reply, blocks=tuple(blocks))


def _short_form(turn: Turn) -> Iterator[Block]:
    if turn.think is not None:
        yield Thinking(turn.think)
    if turn.say is not None:
        yield Text(turn.say)
    if turn.use is not None:
        yield ToolUse("", turn.use, {} if turn.input is msgspec.UNSET else turn.input)


def block_from(fields: dict[str, Json]) -> Block:
    """A block of a scenario file: `type` and the fields of the core block, or kept as opaque.

    Raises InputError for a known type with wrong or unknown fields.
    """
    kind = fields.get("type")
    kind = kind if isinstance(kind, str) else None
    if kind == "tool_use":
        fields = {"id": "", "input": {}, **fields}
    try:
        if kind in BLOCKS:
            _refuse_unknown(fields, BLOCKS[kind])
            return msgspec.convert(fields, type=BLOCKS[kind])
    except msgspec.ValidationError as error:
        raise InputError(f"block of type {kind!r}: {error}") from None
    if kind is None:
        raise InputError(f"a block needs a `type`: {fields!r}")
    return Opaque(kind, fields)


def _refuse_unknown(fields: dict[str, Json], block: type[msgspec.Struct]) -> None:
    known = {"type", *block.__struct_fields__}
    for name in fields:
        if name not in known:
            raise InputError(f"block of type {fields['type']!r}: {name!r}: {nearest(name, known)}")


BLOCKS: dict[str | None, type[Text | Thinking | ToolUse | ToolResult]] = {
    "text": Text,
    "thinking": Thinking,
    "tool_use": ToolUse,
    "tool_result": ToolResult,
}
"""The types of blocks that a scenario file writes by their fields."""


def describe(turn: Turn) -> str:
    """A turn in a few words, for messages."""
    if turn.use is not None:
        return f"use {turn.use}"
    if turn.say is not None:
        return f"say {turn.say[:40]!r}"
    return f"{len(turn.blocks)} blocks"


class ToolScripts:
    """The scripted tools. Past the end of its script a tool answers an error, or repeats its last
    turn if the script is open."""

    def __init__(self, tools: Mapping[str, ToolScript], policy: Policy = "strict") -> None:
        self._tools, self._is_open = tools, policy == "open"

    def due(self, name: str, past: Past) -> tuple[ToolTurn, int] | None:
        """The tool's turn that is due and its index, or None past the end of a strict script."""
        lane = f"tool:{name}"
        turns = self._tools[name].script or (ToolTurn(ok="ok", times="forever"),)
        for index in range(max(past.last_played.get(lane, 0), 0), len(turns)):
            if past.plays[lane, index] < count(turns[index].times):
                return turns[index], index
        return (turns[-1], len(turns) - 1) if self._is_open else None

    def known(self, name: str) -> bool:
        """Whether the scenario has this tool."""
        return name in self._tools


def tool_answer(turn: ToolTurn) -> ToolAnswer:
    """The answer of a tool's turn that neither raises nor hangs."""
    if turn.error is not None:
        return ToolAnswer(turn.error, is_error=True)
    if turn.bytes is not None:
        return ToolAnswer("x" * turn.bytes)
    return ToolAnswer("ok" if turn.ok is msgspec.UNSET else turn.ok)


def meets(wanted: RequestText, call: Call) -> bool:
    """Whether a request has the text of `has`, and lacks the text of `lacks`.

    The system text counts, because some agents keep instructions there that others keep in a
    message.
    """
    blocks = (block for message in call.messages for block in message.blocks)
    said = "\n".join((call.system, *_texts(blocks))).casefold()
    has = wanted.has is None or wanted.has.casefold() in said
    return has and (wanted.lacks is None or wanted.lacks.casefold() not in said)


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Text(text) | ToolResult(content=str(text)):
                yield text
            case ToolResult(content=tuple(parts)):
                yield from _texts(parts)
            case ToolUse(input=value) | Opaque(value=value):
                yield from strings_in(value)
