"""AutoGPT transcripts: its message history, and the state of an agent with its episodes.

Classic AutoGPT answers in JSON that names a `command`; a system message gives the result: "Command
NAME returned: ...". Later versions keep episodes (an action and its result) in `state.json`.
Source: Significant-Gravitas/AutoGPT, the classic agent's log cycle and action history.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message, Text, ToolResult, ToolUse
from harness.providers.openai_chat.framework_messages import is_message
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording, TrajectoryStep, Transcript

_FAILURE = (
    r"Command \S+ (threw|failed|returned: Error)|Unknown|Unable to execute|Action failed|Error"
)
_FAILED = re.compile(_FAILURE)
_RESULT = re.compile(rf"({_FAILURE}|Command \S+ returned|Action succeeded)\b")


def _is_autogpt(data: bytes) -> bool:
    if _episodes(json_documents.peek(data, b'"episodes"', b'"action"')):
        return True
    value = json_documents.peek(data, b'"role"', b"command", b"thoughts")
    return any(_command(message) for message in f.objects(value))


@recognised_by(_is_autogpt)
def autogpt(document: bytes) -> Recording:
    """AutoGPT history or state.

    Raises InputError for a file without commands and without episodes.
    """
    value = json_documents.load(document)
    episodes = _episodes(value)
    if episodes:
        return Recording((_state(f.mapping(value), episodes),))
    history = [message for message in f.objects(value) if is_message(message)]
    if not any(map(_command, history)):
        raise InputError("no message names a command, and no episodes are kept", "line 1")
    messages = tuple(_messages(history))
    return Recording((Transcript(name="history", messages=messages),))


def _command(message: dict[str, Json]) -> dict[str, Json]:
    """The command that an answer names; an empty object where it names no command."""
    text = f.text(message.get("content"))
    if message.get("role") != "assistant" or "thoughts" not in text:
        return {}
    said = f.parse(text[text.find("{") : text.rfind("}") + 1].encode("utf-8", "replace"))
    command = f.mapping(f.mapping(said).get("command"))
    return command if isinstance(command.get("name"), str) else {}


def _messages(history: list[dict[str, Json]]) -> Iterator[Message]:
    pending = ""
    for number, message in enumerate(history, start=1):
        role, text = f.text(message.get("role")), f.as_text(message.get("content"))
        command, is_result = _command(message), message.get("type") == "action_result"
        if command:
            pending = f"message_{number}"
            use = ToolUse(pending, command["name"], command.get("args"))
            yield Message("assistant", (Text(text), use))
        elif pending and role != "assistant" and (_RESULT.match(text) or is_result):
            yield Message("tool", (ToolResult(pending, text, _FAILED.match(text) is not None),))
            pending = ""
        else:
            yield Message(role, (Text(text),) if text else ())


def _episodes(value: Json) -> list[dict[str, Json]]:
    """The episodes of a state, or those that stand alone."""
    state = f.mapping(value)
    held = f.mapping(state.get("history")).get("episodes") or state.get("episodes")
    return [item for item in f.objects(held) if isinstance(item.get("action"), dict)]


def _state(state: dict[str, Json], episodes: list[dict[str, Json]]) -> Transcript:
    steps = (_step(episode, number) for number, episode in enumerate(episodes, start=1))
    task = f.text(f.mapping(state.get("task")).get("input")) or f.text(state.get("task"))
    made = tuple(message for step in steps for message in step.messages())
    return Transcript(name="episodes", messages=made, task=task)


def _step(episode: dict[str, Json], number: int) -> TrajectoryStep:
    action = f.mapping(episode.get("action"))
    call = f.mapping(action.get("use_tool")) or action
    result = episode.get("result")
    return TrajectoryStep(
        id=f"episode_{number}",
        name=f.text(call.get("name")) or "action",
        input=call["arguments"] if "arguments" in call else call.get("args"),
        thought=_thought(action),
        observation=None if result is None else _outcome(f.mapping(result)),
        failed=f.mapping(result).get("status") == "error",
    )


def _thought(action: dict[str, Json]) -> str:
    thoughts = action.get("thoughts")
    said = f.mapping(thoughts).get("text") or f.mapping(thoughts).get("reasoning") or thoughts
    return f.text(said) or f.text(action.get("reasoning"))


def _outcome(result: dict[str, Json]) -> str:
    found = (result[name] for name in ("outputs", "reason", "feedback", "error") if name in result)
    return next((f.as_text(value) for value in found if value is not None), "")
