"""mini-swe-agent trajectories: the messages as they were sent, with a header about the run.

The agent appends a message of its own role `exit`, which it never sends. The first versions write a
bare list of messages, which is read as a chat.
"""

from __future__ import annotations

from harness.core.values.errors import InputError
from harness.providers.openai_chat.framework_messages import recorded_message
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording, Transcript


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
