"""A scenario that goes another way at one answer of a run, and as before up to there.

A run names the entry of the script that gave each answer, so the entry is divided there: what it
had said before stays, the new answer follows, and it goes on afterwards. The result is a scenario
like any other: it is written, kept and played without the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.scenario.inbox import entries
from harness.core.scenario.scenario import (
    CassetteScript,
    Expect,
    InboxItem,
    Scenario,
    ToolTurn,
    Turn,
)
from harness.core.values.calls import ToolRequest
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json

_EntryT = TypeVar("_EntryT", Turn, ToolTurn)

SEAMS = ("model", "tool", "inbox")
"""The seams whose answers a fork may change: a scenario says what each of them gives."""


def answer_at(history: History, key: str) -> Answered:
    """The answer to a call, named by its key (`main/model#4`) or the number of its event (`#14`).

    Raises InputError for a call that the run has not.
    """
    number = key.removeprefix("#")
    named = {str(e.n): e.key for e in history.events if isinstance(e, Called | Answered)}
    key = named.get(number, key)
    answers = {e.key: e for e in history.events if isinstance(e, Answered) and e.seam in SEAMS}
    if key not in answers:
        raise InputError(f"no answer {key!r} in this run; {nearest(key, answers)}", "--at")
    return answers[key]


def forked(
    scenario: Scenario, history: History, answer: Answered, given: Mapping[str, Json]
) -> Scenario:
    """The scenario in which an answer of a run has these fields.

    They are those of a turn (`say`, `use`, `input`, `stop`), of a tool's turn (`ok`, `error`,
    `hang`), or of a message (`text`). What the scenario expects is about its own course, so the
    other one has no expectations. Raises InputError for an answer that no entry of the script gave,
    and for a field that the entry has not.
    """
    scenario = replace(scenario, expect=Expect(fail_on=scenario.expect.fail_on))
    key = answer.key
    if answer.seam == "inbox":
        return _other_message(scenario, answer, given)
    if answer.script_turn is None:
        raise InputError(_unscripted(answer), key)
    if answer.seam == "model":
        if isinstance(scenario.script, CassetteScript):
            raise InputError("a cassette plays strictly: `harness import` makes a scenario", key)
        said = scenario.script[answer.script_turn]
        turn = replace(_new(given, Turn, key), purpose=said.purpose, when=said.when)
        script = _divided(scenario.script, answer, history, "", turn)
        return replace(scenario, script=script)
    name = _tool_of(history, key)
    tool = scenario.tools[name]
    turns = tool.script or (ToolTurn(ok="ok", times="forever"),)
    parts = _divided(turns, answer, history, name, _new(given, ToolTurn, key))
    return replace(scenario, tools={**scenario.tools, name: replace(tool, script=parts)})


def _unscripted(answer: Answered) -> str:
    if answer.faults:
        kinds = ", ".join(answer.faults)
        return f"the fault {kinds} gave this answer: change `faults` of the scenario"
    return "no entry of the script gave this answer: add a turn to the scenario"


def _new(given: Mapping[str, Json], entry: type[_EntryT], key: str) -> _EntryT:
    try:
        return msgspec.convert(given, type=entry)
    except msgspec.ValidationError as error:
        raise InputError(f"not an answer of {key}: {error}", "--set") from None


def _tool_of(history: History, key: str) -> str:
    """The name of the tool that a call ran."""
    request = next(e.request for e in history.events if isinstance(e, Called) and e.key == key)
    assert isinstance(request, ToolRequest)
    return request.name


def _divided(
    script: Sequence[_EntryT], answer: Answered, history: History, tool: str, new: _EntryT
) -> tuple[_EntryT, ...]:
    """The script with a new entry in place of one play of the entry that gave an answer."""
    place = answer.script_turn or 0
    entry, before = script[place], _plays_before(history, answer, tool)
    made = list(script[:place])
    if before:
        made.append(replace(entry, times=before))
    made.append(new)
    if entry.times == "forever":
        made.append(entry)
    elif entry.times > before + 1:
        made.append(replace(entry, times=entry.times - before - 1))
    made += script[place + 1 :]
    return tuple(made)


def _plays_before(history: History, answer: Answered, tool: str) -> int:
    """How often an entry of a script had answered before."""
    runs = {
        event.key
        for event in history.events
        if isinstance(event, Called) and getattr(event.request, "name", "") == tool
    }
    return sum(
        event.seam == answer.seam
        and event.script_turn == answer.script_turn
        and (not tool or event.key in runs)
        for event in history.events
        if isinstance(event, Answered) and event.n < answer.n
    )


def _other_message(scenario: Scenario, answer: Answered, given: Mapping[str, Json]) -> Scenario:
    """The scenario whose message of this answer has other fields."""
    value: Any = answer.value or {}
    place = _place_of(scenario.inbox, str(value.get("id", "")), answer.key)
    fields = {**msgspec.to_builtins(scenario.inbox[place]), **given}
    try:
        item = msgspec.convert(fields, type=InboxItem)
    except msgspec.ValidationError as error:
        raise InputError(f"not a message: {error}", "--set") from None
    inbox = (*scenario.inbox[:place], item, *scenario.inbox[place + 1 :])
    return replace(scenario, inbox=inbox)


def _place_of(inbox: Sequence[InboxItem], name: str, key: str) -> int:
    names = [entry.inbound.id for entry in entries(inbox)]
    if name not in names:
        raise InputError("no message of the scenario is this answer", key)
    return names.index(name)
