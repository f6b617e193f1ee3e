"""The script of a story: what the model said, as turns of the fake model.

Equal turns in a row are one, with `times`, so that a loop of a hundred calls is a line. A correct
agent ends a loop before the recording does; so behind each turn at which something has repeated
three times stands a last word that is said once no tools are offered, and from there on no turn is
owed. Nor is one owed behind as many calls as an agent may bound a turn by, or behind
a failure of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from harness.core.history.repetition import (
    REPEATS,
    CallMade,
    ResultMade,
    Stretch,
    cycle2_runs,
    same_call_runs,
    same_fail_runs,
)
from harness.core.values.messages import Block, Json, Message, Opaque, Text, Thinking, ToolUse
from harness.recordings.importing import fidelity
from harness.recordings.importing.fidelity import Account
from harness.recordings.importing.story import Failed, Heard, Said, Step
from harness.recordings.importing.troubles import is_too_long

LAST_WORD = "I could not finish this: the same thing happened again and again."
NO_ANSWER = "(the recording ends here)"

SUMMARY = "(the recording holds no summary: the user asked, and the work goes on)"

_NOT_RECORDED = {"say": NO_ANSWER}

LONG_TURN = 49
"""So many calls of a turn are owed: from one more on, checks take a stop for that of a bound."""

_STOPS = {
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
    "pause_turn": "pause_turn",
    "model_context_window_exceeded": "model_context_window_exceeded",
}
"""The stop reasons that are not the usual ones, by any provider's word."""

_Turn = dict[str, Json]


def script(steps: Sequence[Step], wire: str, account: Account) -> list[_Turn]:
    """The turns of the steps."""
    said = list(_answered(steps, account))
    stuck, owed = _stuck(said), min(_bounded(said), _before_failures(steps, len(said)))
    turns = [_turn(one, wire, account) for one in said]
    made: list[_Turn] = _summaries(steps, account)
    for turn, group in groupby(range(len(turns)), key=lambda n: turns[n]):
        places = list(group)
        long = turn if len(places) == 1 else {**turn, "times": len(places)}
        is_owed = places[0] < owed and turn != _NOT_RECORDED
        made.append(long if is_owed else {**long, "optional": True})
        if not stuck.isdisjoint(places):
            owed = 0
            made.append({"say": LAST_WORD, "when": "ended"})
    return made


def _summaries(steps: Sequence[Step], account: Account) -> list[_Turn]:
    """What an agent gets that makes the conversation shorter, because it was too long."""
    if not any(isinstance(step, Failed) and is_too_long(step) for step in steps):
        return []
    account.note(fidelity.SUMMARY)
    return [{"for": "compact", "say": SUMMARY, "times": "forever", "optional": True}]


def _bounded(said: Sequence[Said]) -> int:
    """How many of the first turns are owed: those until one of the user's turns is too long."""
    model = tool = 0
    for place, one in enumerate(said):
        model, tool = model + 1, tool + len(one.results)
        if max(model, tool) > LONG_TURN:
            return place
        if not one.results:
            model = tool = 0
    return len(said)


def _answered(steps: Sequence[Step], account: Account) -> Iterator[Said]:
    """What was said, and a sentence wherever a turn was left without its answer."""
    asking = False
    for step in steps:
        if isinstance(step, Heard) and asking:
            account.note(fidelity.NO_LAST_WORD)
            yield _no_answer()
        if isinstance(step, Said):
            yield step
        asking = _asks(step, asking)
    if asking:
        account.note(fidelity.NO_LAST_WORD)
        yield _no_answer()


def _before_failures(steps: Sequence[Step], all_of_them: int) -> int:
    """How many replies came before the first failure: behind it agents go their own ways."""
    failed = next((n for n, step in enumerate(steps) if isinstance(step, Failed)), None)
    if failed is None:
        return all_of_them
    return sum(isinstance(step, Said) for step in steps[:failed])


def _asks(step: Step, asking: bool) -> bool:
    """Whether the agent will ask the model once more after this step."""
    if isinstance(step, (Heard, Failed)):
        return True
    return asking if step.purpose != "main" else bool(step.message.tool_uses)


def _no_answer() -> Said:
    return Said(Message("assistant", (Text(NO_ANSWER),)))


def _stuck(said: Sequence[Said]) -> set[int]:
    """The places at which something has happened three times in a row, or in a circle."""
    places, calls, results = [], [], []
    for place, one in enumerate(said):
        for use, result in one.calls:
            places.append(place)
            calls.append(CallMade(use.name, use.input))
            text = result.text if result else ""
            results.append(ResultMade(bool(result and result.is_error), text))
    found = (*same_call_runs(calls), *same_fail_runs(results), *cycle2_runs(calls))
    return {places[at] for run in found for at in _from_third(run)}


def _from_third(run: Stretch) -> Iterable[int]:
    return range(run.start + REPEATS - 1, run.start + run.length)


def _turn(said: Said, wire: str, account: Account) -> _Turn:
    """One turn, in its short form where that says it all."""
    blocks = [b for b in (_kept(b, wire, account) for b in said.message.blocks) if b]
    turn = _short(blocks) or {"blocks": [_long(block) for block in blocks]}
    if said.purpose != "main":
        turn = {"for": said.purpose, **turn, "optional": True}
    stop = _STOPS.get(said.stop or "")
    return {**turn, "stop": stop} if stop else turn


def _kept(block: Block, wire: str, account: Account) -> Block | None:
    if isinstance(block, Thinking) and (block.redacted or not block.text.strip()):
        account.note(fidelity.THOUGHTS)
        return None
    if isinstance(block, Opaque) and wire != "anthropic":
        account.note(fidelity.NOT_TEXT)
        return None
    return block


_ORDER = (Thinking, Text, ToolUse)
"""The blocks of a short form, in the order in which they are played."""


def _short(blocks: Sequence[Block]) -> _Turn | None:
    """`think`, `say` and `use` with `input`; None when the blocks are others, or none."""
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


def _long(block: Block) -> _Turn:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Thinking():
            return {"type": "thinking", "text": block.text}
        case ToolUse():
            return {"type": "tool_use", "name": block.name, "input": block.input}
        case Opaque():
            return dict(block.value)
    return {"type": "text", "text": block.text}
