"""Run states of openai-agents: what its runner keeps of a run that waits, or that has ended.

The items of the run stand behind its input, each in an envelope that names its agent. A call that
waits for an approval is listed a second time, as the question about it. The SDK for JavaScript
keeps other names, and is not read. Source: openai/openai-agents-python, src/agents/run_state.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.chat_messages import transcript_of
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording

_ITEMS = ("session_items", "generated_items")
"""The lists of items, the whole one first: a hand-off may filter what the next agent is given."""

_QUESTION = "tool_approval_item"


def _is_run_state(data: bytes) -> bool:
    state = f.mapping(json_documents.peek(data, b'"$schemaVersion"', b'"original_input"'))
    return "$schemaVersion" in state and "original_input" in state


@recognised_by(_is_run_state)
def agents_run_state(document: bytes) -> Recording:
    """run state of openai-agents.

    Raises InputError for a state of a run that has no input.
    """
    state = f.mapping(json_documents.load(document))
    found = transcript_of("run", {"input": [*_messages(state)]})
    if found is None:
        raise InputError("the run has no input", "original_input")
    return Recording((found,))


def _messages(state: dict[str, Json]) -> Iterator[Json]:
    given = state.get("original_input")
    if isinstance(given, str):
        yield {"role": "user", "content": given}
    else:
        yield from f.objects(given)
    items = next(filter(None, (f.objects(state.get(name)) for name in _ITEMS)), [])
    for item in items:
        if item.get("type") != _QUESTION:
            yield item.get("raw_item")
