"""Trajectories of SWE-agent, and of mini-swe-agent.

SWE-agent keeps a `trajectory`, steps of action and observation, beside a `history`.

With function calling, the history holds call ids and so is a separate transcript. Its results name
their calls in a list, `tool_call_ids`. The user's request stands only in the history, before the
first answer, perhaps after a demonstration (`is_demo`).

mini-swe-agent keeps the messages as they were sent, with a header about the run. The agent appends
a message of its own role `exit`, which it never sends. The first versions write a bare list of
messages, which is read as a chat.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message
from harness.providers.openai_chat.framework_messages import recorded_message
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import (
    Recording,
    TrajectoryStep,
    Transcript,
    command_name,
)


def _is_swe_agent(data: bytes) -> bool:
    keys = ((b'"trajectory"', b'"observation"'), (b'"history"', b'"agent"'))
    return any(_fits(json_documents.peek(data, *names)) for names in keys)


def _fits(value: Json) -> bool:
    value = f.mapping(value)
    steps, history = f.objects(value.get("trajectory")), f.objects(value.get("history"))
    return any("action" in step and "observation" in step for step in steps[:1]) or any(
        "role" in message and "agent" in message for message in history[:1]
    )


@recognised_by(_is_swe_agent)
def swe_agent(document: bytes) -> Recording:
    """SWE-agent trajectory.

    A trajectory; raises InputError when it holds neither steps nor calls of functions.
    """
    value = f.mapping(json_documents.load(document))
    found = tuple(_transcripts(value))
    if not found:
        raise InputError("a trajectory has a list trajectory or history, this has none", "line 1")
    return Recording(found)


def _transcripts(value: dict[str, Json]) -> Iterator[Transcript]:
    steps = f.objects(value.get("trajectory"))
    history = [recorded_message(_with_id(m)) for m in f.objects(value.get("history"))]
    system = f.joined(message.text for message in history if message.role == "system")
    if steps:
        made = (m for n, step in enumerate(steps, start=1) for m in _step(step, n).messages())
        said, task = tuple(made), _task(f.objects(value.get("history")))
        yield Transcript(name="trajectory", messages=said, system=system, task=task)
    if history and (not steps or any(message.tool_uses for message in history)):
        wire = RECORD.name
        yield Transcript(name="history", messages=tuple(history), wire=wire)


def _step(step: dict[str, Json], number: int) -> TrajectoryStep:
    action, observation = f.text(step.get("action")), step.get("observation")
    return TrajectoryStep(
        id=f"step_{number}",
        name=command_name(action),
        input=action,
        thought=f.text(step.get("thought")),
        observation=None if observation is None else f.as_text(observation),
    )


def _with_id(message: dict[str, Json]) -> dict[str, Json]:
    ids = f.listed(message.get("tool_call_ids"))
    return {"tool_call_id": ids[0], **message} if ids else message


def _task(history: list[dict[str, Json]]) -> str:
    asked: list[Message] = []
    for message in history:
        if message.get("role") == "assistant":
            break
        if message.get("role") == "user" and not message.get("is_demo"):
            asked.append(recorded_message(message))
    return f.joined(message.text for message in asked)


def _is_mini_swe_agent(data: bytes) -> bool:
    value = f.mapping(json_documents.peek(data, b"mini", b'"messages"'))
    named = f.text(value.get("trajectory_format")).startswith("mini-swe-agent")
    return named or "mini_version" in f.mapping(value.get("info"))


@recognised_by(_is_mini_swe_agent)
def mini_swe_agent(document: bytes) -> Recording:
    """mini-swe-agent trajectory.

    Raises InputError for a trajectory without messages.
    """
    value = f.mapping(json_documents.load(document))
    sent = [m for m in f.objects(value.get("messages")) if m.get("role") != "exit"]
    if not sent:
        raise InputError("a trajectory has a list messages, this has none", "line 1")
    config = f.mapping(f.mapping(value.get("info")).get("config"))
    transcript = Transcript(
        name="messages",
        messages=tuple(recorded_message(message) for message in sent),
        wire=RECORD.name,
        model=f.text(f.mapping(config.get("model")).get("model_name")),
    )
    return Recording((transcript,))
