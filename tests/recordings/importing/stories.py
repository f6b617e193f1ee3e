"""Transcripts to import, and what becomes of them, in few words."""

from __future__ import annotations

from typing import Any

from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.recordings.exchange_sessions import leading_exchanges
from harness.recordings.importing.fidelity import GapLog
from harness.recordings.importing.scenario_document import ImportedScenario, import_dialogue
from harness.recordings.importing.transcript_dialogue import (
    dialogue_of_transcript,
)
from harness.recordings.transcripts import Transcript


def log(*messages: Message, **fields: Any) -> Transcript:
    """A session log."""
    return Transcript(name="s", wire="anthropic", messages=messages, **fields)


def call(name: str, id_: str, **input: Any) -> Message:
    """The model asks for a tool."""
    return assistant(ToolUse(id_, name, input))


def result(id_: str, text: str, is_error: bool = False) -> Message:
    """A tool has answered."""
    return results(ToolResult(id_, text, is_error))


def loop(times: int) -> tuple[Message, ...]:
    """The same failing call again and again."""
    rounds = range(times)
    return tuple(
        m for n in rounds for m in (call("find", f"t{n}", q="x"), result(f"t{n}", "busy", True))
    )


def told(
    transcript: Transcript, *others: Transcript, at: int | None = None, fired: tuple[str, ...] = ()
) -> ImportedScenario:
    """The scenario of a transcript of a recording."""
    account = GapLog()
    links = leading_exchanges((*others, transcript), transcript)
    made = dialogue_of_transcript(transcript, links, account)
    return import_dialogue(
        made, name="it", title="An incident", source=["x"], fired=fired, at=at, account=account
    )


__all__ = ["Message", "Text", "assistant", "call", "log", "loop", "result", "told", "user"]
