"""The model's side of a dialogue: its replies as turns of the script, its failures as faults.

A correct agent ends a loop before the recording does. So a last word follows each turn after three
repetitions, and later turns are optional. Turns beyond a bound on calls, or after a failure of the
model, are optional too. A fault may stay unused, because an agent that stops early never meets a
later failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from harness import providers
from harness.core.history.repetition import (
    REPEATS,
    CallMade,
    ResultMade,
    cycle2_runs,
    same_call_runs,
    same_fail_runs,
)
from harness.core.values.messages import Block, Json, Message, Opaque, Text, Thinking, ToolUse
from harness.core.values.plans import ApiError
from harness.core.values.table_file import pairs
from harness.recordings.importing import fidelity
from harness.recordings.importing.dialogue import DialogueStep, FailedTurn, ModelTurn, UserTurn
from harness.recordings.importing.fidelity import GapLog

LAST_WORD = "I could not finish this: the same thing happened again and again."
NO_ANSWER = "(the recording ends here)"

SUMMARY = "(the recording holds no summary: the user asked, and the work goes on)"

_NOT_RECORDED: dict[str, Json] = {"say": NO_ANSWER}

_CLOSING: dict[str, Json] = {**_NOT_RECORDED, "times": "forever", "optional": True}
"""The end of a script with blank answers, for agents that ask again more often."""

_QUESTION_MAX = 60

LONG_TURN = 49
"""An agent must make at most this number of calls in a turn. Later ones are optional: checks take a
stop there for that of a bound."""

_STOPS = pairs(__package__, "stop_words.tsv")
"""The stop reasons that are not the usual ones, by any provider's word."""

_Turn = dict[str, Json]


def script(steps: Sequence[DialogueStep], wire: str, account: GapLog) -> list[_Turn]:
    """The turns of the steps."""
    said = list(_answered(steps, account))
    stuck, owed = _stuck(said), min(_bounded(said), _before_failures(steps, len(said)))
    ids = Counter(use.id for one in said for use in one.message.tool_uses if use.id)
    repeated = frozenset(id_ for id_, n in ids.items() if n > 1)
    turns = [_turn(one, wire, account, repeated) for one in said]
    nudged = _nudged(steps)
    made: list[_Turn] = _summaries(steps, account)
    for turn, group in groupby(range(len(turns)), key=lambda n: turns[n]):
        places = list(group)
        long = turn if len(places) == 1 else {**turn, "times": len(places)}
        is_owed = places[0] < owed and turn != _NOT_RECORDED
        made.append(long if is_owed else {**long, "optional": True})
        if not stuck.isdisjoint(places):
            owed = 0
            made.append({"say": LAST_WORD, "when": "ended"})
        if question := nudged.get(id(said[places[-1]])):
            made.append({**_NOT_RECORDED, "when": {"lacks": question}})
    return [*made, *([_CLOSING] if nudged else [])]


def _nudged(steps: Sequence[DialogueStep]) -> dict[int, str]:
    """The blank answers, after which many agents ask again, and how the next question begins."""
    found: dict[int, str] = {}
    question = ""
    for step in reversed(steps):
        if isinstance(step, UserTurn):
            line = next(filter(None, map(str.strip, step.text.split("\n"))), "")
            question = line[:_QUESTION_MAX].strip()
        elif isinstance(step, ModelTurn) and step.purpose == "main" and _is_blank(step.message):
            found[id(step)] = question
    return found


def _is_blank(message: Message) -> bool:
    return not any(
        isinstance(block, (ToolUse, Opaque)) or (isinstance(block, Text) and block.text.strip())
        for block in message.blocks
    )


def _summaries(steps: Sequence[DialogueStep], account: GapLog) -> list[_Turn]:
    """Summaries for an agent that compacts a conversation that is too long."""
    if not any(isinstance(step, FailedTurn) and step.too_long for step in steps):
        return []
    account.note(fidelity.SUMMARY)
    return [{"for": "compact", "say": SUMMARY, "times": "forever", "optional": True}]


def _bounded(said: Sequence[ModelTurn]) -> int:
    """How many turns are owed: those before the first turn of the user that is too long."""
    model = tool = 0
    for place, one in enumerate(said):
        model, tool = model + 1, tool + len(one.results)
        if max(model, tool) > LONG_TURN:
            return place
        if not one.results:
            model = tool = 0
    return len(said)


def _answered(steps: Sequence[DialogueStep], account: GapLog) -> Iterator[ModelTurn]:
    """What the model says, with a sentence where a turn has no answer."""
    for step in _with_endings(steps):
        if step is _ENDING:
            account.note(fidelity.NO_LAST_WORD)
        if isinstance(step, ModelTurn):
            yield step


_ENDING = ModelTurn(Message("assistant", (Text(NO_ANSWER),)))
"""What stands for the end of a turn without an answer."""


def _with_endings(steps: Sequence[DialogueStep]) -> Iterator[DialogueStep]:
    """The steps, with an ending where a turn has no answer."""
    asking = False
    for step in steps:
        if asking and isinstance(step, UserTurn):
            yield _ENDING
        yield step
        asking = _asks(step, asking)
    if asking:
        yield _ENDING


def _before_failures(steps: Sequence[DialogueStep], all_of_them: int) -> int:
    """The number of replies before the first failure: agents diverge after it."""
    failures = (n for n, s in enumerate(steps) if isinstance(s, FailedTurn) and not s.bad_request)
    failed = next(failures, None)
    if failed is None:
        return all_of_them
    return sum(isinstance(step, ModelTurn) for step in steps[:failed])


def _asks(step: DialogueStep, asking: bool) -> bool:
    """Whether the agent calls the model again after this step."""
    if isinstance(step, (UserTurn, FailedTurn)):
        return True
    return asking if step.purpose != "main" else bool(step.message.tool_uses)


def _stuck(said: Sequence[ModelTurn]) -> set[int]:
    """The places at which something has happened three times in a row, or in a circle."""
    places, calls, results = [], [], []
    for place, one in enumerate(said):
        for use, result in one.calls:
            places.append(place)
            calls.append(CallMade.of(use.name, use.input))
            text = result.text if result else ""
            results.append(ResultMade(bool(result and result.is_error), text))
    found = (*same_call_runs(calls), *same_fail_runs(results), *cycle2_runs(calls))
    return {
        places[at] for run in found for at in range(run.start + REPEATS - 1, run.start + run.length)
    }


def _turn(said: ModelTurn, wire: str, account: GapLog, repeated: frozenset[str]) -> _Turn:
    """A reply as a turn; a call keeps its id when the model has used that one twice."""
    blocks = [b for b in (_kept(b, wire, account) for b in said.message.blocks) if b]
    own_ids = repeated.isdisjoint(use.id for use in said.message.tool_uses)
    long: _Turn = {"blocks": [_long(block, repeated) for block in blocks]}
    turn = (_short(blocks) if own_ids else None) or long
    if said.purpose != "main":
        turn = {"for": said.purpose, **turn, "optional": True}
    stop = _STOPS.get(said.stop or "")
    return {**turn, "stop": stop} if stop else turn


def _kept(block: Block, wire: str, account: GapLog) -> Block | None:
    if isinstance(block, Thinking) and (block.redacted or not block.text.strip()):
        account.note(fidelity.THOUGHTS)
        return None
    if isinstance(block, Opaque) and wire != providers.DEFAULT:
        account.note(fidelity.NOT_TEXT)
        return None
    return block


_ORDER = (Thinking, Text, ToolUse)
"""The blocks of a short form, in the order in which they are played."""


def _short(blocks: Sequence[Block]) -> _Turn | None:
    """`think`, `say` and `use` with `input`; None when these cannot express the blocks."""
    kinds = [_ORDER.index(type(block)) if type(block) in _ORDER else -1 for block in blocks]
    if not kinds or -1 in kinds or sorted(set(kinds)) != kinds:
        return None
    turn: _Turn = {}
    for block in blocks:
        match block:
            case Thinking():
                turn["think"] = block.text
            case Text():
                turn["say"] = block.text
            case ToolUse():
                turn |= {"use": block.name, "input": block.input}
    return turn


def _long(block: Block, repeated: frozenset[str]) -> _Turn:
    match block:
        case Thinking():
            return {"type": "thinking", "text": block.text}
        case ToolUse():
            id_ = {"id": block.id} if block.id in repeated else {}
            return {"type": "tool_use", **id_, "name": block.name, "input": block.input}
        case Opaque():
            return dict(block.value)
    return {"type": "text", "text": block.text}


_MESSAGE_MAX = 300
_TOO_LARGE = 413


def failure_faults(steps: Sequence[DialogueStep], stream: bool) -> list[dict[str, Json]]:
    """The faults of the steps; failures of one kind in a row are one fault.

    The calls are counted as a correct agent makes them: it does not send a bad request.
    """
    found: list[tuple[dict[str, Json], int]] = []
    number, failed = 0, False
    for step in _with_endings(steps):
        if step is _ENDING and failed:  # who gives up does not ask for it
            continue
        failed = isinstance(step, FailedTurn) and not step.bad_request
        number += failed or isinstance(step, ModelTurn)
        if failed and isinstance(step, FailedTurn):
            found.append((fault_of(step, stream), number))
    faults: list[dict[str, Json]] = []
    for fault, group in groupby(found, key=itemgetter(0)):
        numbers = [number for _, number in group]
        when = numbers[0] if len(numbers) == 1 else numbers
        faults.append({**fault, "when": when, "must_fire": False})
    return faults


def fault_of(failed: FailedTurn, stream: bool) -> dict[str, Json]:
    """The fault that makes the model fail in this way, without its place."""
    error = failed.error
    if error is None:
        return {"kind": "sse.no_message_stop" if stream else "transport.reset_mid_body"}
    if error.status == _TOO_LARGE:
        return {"kind": "http.too_large"}
    if failed.too_long:
        return {"kind": "http.prompt_too_long"}
    if 400 <= error.status <= 599:
        return {"kind": "http.status", "status": error.status, **_words(error)}
    kind = "sse.error_event" if stream else "http.error_envelope_under_200"
    return {"kind": kind, **_words(error)}


def _words(error: ApiError) -> dict[str, Json]:
    said = {"type": error.type, "message": error.message[:_MESSAGE_MAX]}
    return {name: text for name, text in said.items() if text}
