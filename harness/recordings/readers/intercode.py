"""InterCode results: a mapping of tasks, each with its turns as parallel lists.

The environment could not run an action whose `valid_action` is false.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording, Refusal, TrajectoryStep, Transcript

_LANGUAGES = {"ic_ctf": "bash"}
"""The tool of an environment whose name does not say it."""


def _is_intercode(data: bytes) -> bool:
    value = f.mapping(json_documents.peek(data, b'"turn_history"', b'"actions"'))
    return any("turn_history" in f.mapping(task) for task in list(value.values())[:1])


@recognised_by(_is_intercode)
def intercode(document: bytes) -> Recording:
    """InterCode results.

    Results, a transcript a task; raises InputError when no task has turns.
    """
    transcripts: list[Transcript] = []
    refusals: list[Refusal] = []
    for name, task in f.mapping(json_documents.load(document)).items():
        turns = tuple(_steps(f.mapping(task)))
        if turns:
            said = tuple(message for turn in turns for message in turn.messages())
            asked = f.text(f.mapping(task).get("query"))
            transcripts.append(Transcript(name=f"task {name}", messages=said, task=asked))
        else:
            refusals.append(Refusal(f"task {name}", "a task without turns"))
    if not transcripts:
        raise InputError("no task has a turn_history with actions", "line 1")
    return Recording(tuple(transcripts), tuple(refusals))


def _steps(task: dict[str, Json]) -> Iterator[TrajectoryStep]:
    turns, environment = f.mapping(task.get("turn_history")), f.text(task.get("environment"))
    name = _LANGUAGES.get(environment) or environment.removeprefix("ic_") or "action"
    actions = f.listed(turns.get("actions"))
    lists = (actions, f.listed(turns.get("observations")), f.listed(turns.get("valid_action")))
    rows = zip_longest(*(column[: len(actions)] for column in lists))
    for number, (action, observation, valid) in enumerate(rows, start=1):
        yield TrajectoryStep(
            id=f"turn_{number}",
            name=name,
            input=action,
            observation=None if observation is None else f.as_text(observation),
            failed=valid is False,
        )
