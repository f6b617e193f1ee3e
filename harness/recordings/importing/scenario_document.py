"""A dialogue as the keys of a scenario file, in the order in which a reader wants them.

Checks that fired over the recording are named, so a run that cannot apply them does not pass. A
call without a recorded result gets a placeholder, which keeps later answers aligned. A tool without
a declaration gets a schema from its calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from harness import providers
from harness.core.scenario.scenario import Limits
from harness.core.values.messages import (
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)
from harness.recordings.importing import fidelity
from harness.recordings.importing.dialogue import (
    Dialogue,
    DialogueCut,
    DialogueStep,
    FailedTurn,
    ModelTurn,
    UserTurn,
    cut_at,
)
from harness.recordings.importing.fidelity import Fidelity, GapLog
from harness.recordings.importing.model_script import failure_faults, script

PLACEHOLDER = "(the recording does not hold this result)"

_Call = tuple[ToolUse, ToolResult | None]


def scripted_tools(
    steps: Sequence[DialogueStep], declared: Sequence[ToolSpec], account: GapLog
) -> dict[str, dict[str, Json]]:
    """The tools that are called, in the order of their first calls, then the others declared."""
    calls: dict[str, list[_Call]] = {}
    for step in steps:
        for use, result in step.calls if isinstance(step, ModelTurn) else ():
            calls.setdefault(use.name, []).append((use, result))
    known = {spec.name: spec for spec in declared}
    made = {name: _tool(known.get(name), own, account) for name, own in calls.items()}
    return made | {name: _offer(spec) for name, spec in known.items() if name not in made}


def _tool(spec: ToolSpec | None, calls: list[_Call], account: GapLog) -> dict[str, Json]:
    account.results += len(calls)
    account.missing += sum(result is None for _, result in calls)
    if spec is None:
        account.note(fidelity.INFERRED_SCHEMAS)
    offer = {"input_schema": inferred_schema(calls)} if spec is None else _offer(spec)
    turns = [_turn(result, account) for _, result in calls]
    return {**offer, "script": [_times(turn, len(list(same))) for turn, same in groupby(turns)]}


def _offer(spec: ToolSpec) -> dict[str, Json]:
    offer: dict[str, Json] = {}
    if spec.description:
        offer["description"] = spec.description
    if spec.input_schema:
        offer["input_schema"] = spec.input_schema
    return offer


def _turn(result: ToolResult | None, account: GapLog) -> dict[str, Json]:
    if result is None:
        return {"ok": PLACEHOLDER}
    if result.is_error:
        return {"error": result.text}
    return {"ok": _content(result, account)}


def _content(result: ToolResult, account: GapLog) -> Json:
    """A result's text; several blocks stay several, and an image becomes its name."""
    if isinstance(result.content, str):
        return result.content
    account.note(fidelity.IMAGES, sum(isinstance(b, Opaque) for b in result.content))
    texts = [b.text if isinstance(b, Text) else f"[{b.kind}]" for b in result.content]
    if len(texts) <= 1:
        return "".join(texts)
    return [{"type": "text", "text": text} for text in texts]


def _times(turn: dict[str, Json], n: int) -> dict[str, Json]:
    return turn if n == 1 else {**turn, "times": n}


def inferred_schema(calls: Sequence[_Call]) -> dict[str, Json]:
    """A schema that every successful call fits; what such calls all give is required."""
    names = dict.fromkeys(name for use, _ in calls for name in _names(use))
    good = [set(_names(use)) for use, result in calls if result and not result.is_error]
    required = [name for name in names if good and all(name in given for given in good)]
    schema: dict[str, Json] = {"type": "object", "properties": {name: {} for name in names}}
    return {**schema, "required": required} if required else schema


def _names(use: ToolUse) -> Iterator[str]:
    yield from use.input if isinstance(use.input, dict) else ()


_ROOM = 20
"""An agent may make this number of calls more than were recorded."""


class ImportedScenario(msgspec.Struct, frozen=True):
    """A scenario file's keys, and how near they are to the recording."""

    document: dict[str, Json]
    fidelity: Fidelity


def import_dialogue(
    story: Dialogue,
    *,
    name: str,
    title: str,
    source: Sequence[str],
    fired: Sequence[str],
    at: int | None,
    account: GapLog,
) -> ImportedScenario:
    """The scenario of a story from turn `at` on; `fired` are the checks that found something.

    Raises InputError for a turn that does not exist, and for a story that cannot be played.
    """
    cut = cut_at(story, at)
    wire = story.wire if story.wire in providers.names() else providers.DEFAULT
    if wire != story.wire and story.wire:
        account.note(fidelity.WIRE)
    account.note(fidelity.SYSTEM, int(story.system))
    account.note(fidelity.EARLIER, len(cut.before))
    document: dict[str, Json] = {"name": name, "title": title, "source": list(source)}
    document |= {"wire": wire} if wire != providers.DEFAULT else {}
    document |= {"stream": True} if story.stream else {}
    document |= _session(cut)
    document |= {"tools": made} if (made := scripted_tools(cut.steps, story.tools, account)) else {}
    document["inbox"] = _inbox(cut)
    document["script"] = script(cut.steps, wire, account)
    if troubles := failure_faults(cut.steps, story.stream):
        document["faults"] = troubles
    failed = [step for step in cut.steps if isinstance(step, FailedTurn)]
    account.note(fidelity.FAILURES, sum(not step.bad_request for step in failed))
    account.note(fidelity.BAD_REQUESTS, sum(step.bad_request for step in failed))
    document |= _limits(cut)
    document |= {"expect": {"must": list(fired)}} if fired else {}
    return ImportedScenario(document, account.closed())


def _session(cut: DialogueCut) -> dict[str, Json]:
    messages = [_seed(message) for message in cut.before if message.blocks]
    return {"session": {"messages": messages}} if messages else {}


def _seed(message: Message) -> dict[str, Json]:
    role = "assistant" if message.role == "assistant" else "user"
    plain = len(message.blocks) == 1 and isinstance(message.blocks[0], Text)
    blocks = [_block(block) for block in message.blocks]
    return {"role": role, "content": message.text if plain else blocks}


def _block(block: Text | Thinking | ToolUse | ToolResult | Opaque) -> dict[str, Json]:
    if isinstance(block, Opaque):
        return dict(block.value)
    plain: dict[str, Json] = msgspec.to_builtins(block)
    if isinstance(block, ToolResult) and not isinstance(block.content, str):
        plain["content"] = block.text
    return plain


def _inbox(cut: DialogueCut) -> Json:
    heard = [step for step in cut.steps if isinstance(step, UserTurn)]
    if len(heard) == 1 and heard[0].session == "main":
        return heard[0].text
    items = []
    for number, step in enumerate(heard, start=1):
        session = {"session": step.session} if step.session != "main" else {}
        items.append({"id": f"m{number}", **session, "text": step.text})
    return items


def _limits(cut: DialogueCut) -> dict[str, Json]:
    model = sum(isinstance(step, (ModelTurn, FailedTurn)) for step in cut.steps) + _ROOM
    tool = sum(len(step.results) for step in cut.steps if isinstance(step, ModelTurn)) + _ROOM
    said = sum(isinstance(step, UserTurn) for step in cut.steps) + _ROOM
    wanted = {
        "model_calls": model, "turn_calls": model, "tool_calls": tool,
        "inbox_calls": said, "outbox_calls": said + model,
    }  # fmt: skip
    usual = Limits()
    limits = {name: n for name, n in wanted.items() if n > getattr(usual, name)}
    return {"limits": limits} if limits else {}
