"""Trajectories of OpenHands: a list of events, or lines of tasks with such a list as `history`.

An action of the agent is a call, and the observation that names it as its `cause` the result. With
function calls the model's own answer stands beside each of its actions; actions of one answer are
one message. Without, an action has no id. Events of recall, of states and of condensation are the
program's own. Source: OpenHands/OpenHands, openhands/events, versions 0.13 to 0.62.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.values.messages import Block, Json, Message, Text, ToolResult, ToolUse, user
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import Notes, entries, first_objects, split
from harness.recordings.transcripts import Recording, Transcript

_OWN = frozenset({
    "system", "recall", "change_agent_state", "null", "condensation", "condensation_request",
    "agent_state_changed", "loop_recovery",
})  # fmt: skip
_NOT_INPUT = frozenset({
    "thought", "security_risk", "confirmation_state", "action", "is_confirmed", "action_risk",
    "keep_prompt",
})  # fmt: skip
_MARKS = ("source", "args", "is_confirmed", "wait_for_response")
"""One of these stands in each event; the oldest ones keep their arguments beside them."""

_Event = dict[str, Json]


def _history(value: Json) -> list[_Event]:
    """The events of a list, or of a task; in old tasks an action and its observation are a pair."""
    held = f.mapping(value).get("history") if isinstance(value, dict) else value
    events: list[_Event] = []
    for item in f.listed(held):
        events += f.objects(item) if isinstance(item, list) else f.objects([item])
    return events


def _is_history(value: Json) -> bool:
    first = next(iter(_history(value)), {})
    named = "action" in first or "observation" in first
    return named and not first.keys().isdisjoint(_MARKS) and "role" not in first


def _is_openhands(data: bytes) -> bool:
    if _is_history(next(first_objects(data), None)):
        return True
    return _is_history(json_documents.peek(data, b'"action"', b'"args"'))


@recognised_by(_is_openhands)
def openhands(document: bytes) -> Recording:
    """OpenHands trajectory.

    A torn line is skipped and noted. Raises InputError when no event is a message, and for JSON
    that is torn.
    """
    notes = Notes()
    held: list[Json] = []
    if json_documents.is_lines(document) or b"\n" not in document.strip():
        held += [entry.value for entry in entries(split(document), notes)]
    held = held or [json_documents.load(document)]
    found = [_transcript(value, number) for number, value in enumerate(held, start=1)]
    transcripts = tuple(one for one in found if one.messages)
    if not transcripts:
        raise notes.refusal("no event is a message")
    return notes.on(Recording(transcripts))


def _transcript(value: Json, number: int) -> Transcript:
    events, said = _history(value), f.mapping(value)
    name = f.text(said.get("instance_id")) or f"trajectory {number}"
    first = next((event for event in events if event.get("action") == "system"), {})
    answers = (_answer(event) for event in events)
    return Transcript(
        name=name,
        messages=tuple(_messages(events)),
        wire=RECORD.name,
        model=next(filter(None, (f.text(answer.get("model")) for answer in answers)), ""),
        system=f.text(f.mapping(first.get("args")).get("content")),
    )


def _metadata(event: _Event) -> _Event:
    return f.mapping(event.get("tool_call_metadata"))


def _answer(event: _Event) -> _Event:
    """The model's own answer of which an action is a part."""
    return f.mapping(_metadata(event).get("model_response"))


def _messages(events: Iterable[_Event]) -> Iterator[Message]:
    """The messages; the actions of one answer are held until what follows them."""
    open_id, blocks = "", list[Block]()
    pending = ""
    for number, event in enumerate(events):
        action, observed = f.text(event.get("action")), f.text(event.get("observation"))
        if action in _OWN or observed in _OWN:
            continue
        answer_id = f.text(_answer(event).get("id")) if action else ""
        if blocks and not (answer_id and answer_id == open_id):
            yield Message("assistant", tuple(blocks))
            blocks = []
        if not action:
            yield _observed(event, pending)
        elif event.get("source") == "user" or (action == "message" and number == 0):
            yield user(_content(event))
        else:
            pending = f"{action}-{number}"
            blocks += _acted(event, pending, is_first=not blocks)
            open_id = answer_id
    if blocks:
        yield Message("assistant", tuple(blocks))


def _arguments(event: _Event) -> _Event:
    args = event.get("args")
    return args if isinstance(args, dict) else event


def _content(event: _Event) -> str:
    args = _arguments(event)
    return f.text(args.get("content")) or f.text(event.get("message"))


def _acted(event: _Event, id_: str, is_first: bool) -> Iterator[Block]:
    """The blocks of an action; the words of its answer stand before the first of its actions."""
    action, args = f.text(event.get("action")), _arguments(event)
    if action == "message":
        yield Text(_content(event))
        return
    choice = next(iter(f.objects(_answer(event).get("choices"))), {})
    message = f.mapping(choice.get("message"))
    words = f.text(message.get("content")) or f.text(args.get("thought"))
    if action == "finish":  # nothing answers the call that ends a task
        yield Text(words or f.text(args.get("final_thought")) or f.text(event.get("message")))
        return
    if words and is_first:
        yield Text(words)
    called = f.text(_metadata(event).get("tool_call_id"))
    own = (call for call in f.objects(message.get("tool_calls")) if call.get("id") == called)
    function = f.mapping(next(own, {}).get("function"))
    made = {name: value for name, value in args.items() if name not in _NOT_INPUT}
    given = f.arguments(function["arguments"]) if "arguments" in function else made
    yield ToolUse(called or id_, f.text(_metadata(event).get("function_name")) or action, given)


def _observed(event: _Event, pending: str) -> Message:
    """The result of an action; an error that no action caused is told as the user's words."""
    called, kind = f.text(_metadata(event).get("tool_call_id")), event.get("observation")
    text = f.as_text(event.get("content", ""))
    if not called and (kind == "error" or not pending):
        return user(text)
    return Message("tool", (ToolResult(called or pending, text, kind == "error"),))
