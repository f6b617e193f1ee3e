"""Lines of transcripts for tests, messages to put into them, and mutants that must be caught."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from harness.agent import agent as reference
from harness.agent.sessions.session_archive import Archive, ArchivedTranscript
from harness.core.values.messages import (
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from harness.runner import run
from tests import mutants
from tests.mutants.__main__ import is_killed
from tests.scenarios.all_runs import named

Line = dict[str, Any]


def said(uuid: str, text: str, parent: str = "", **more: Any) -> Line:
    """A line of the user."""
    message = {"role": "user", "content": text}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": message, **more}


def answer(uuid: str, *blocks: Any, parent: str = "", id: str = "msg_1", **more: Any) -> Line:
    """A line of the assistant."""
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    message = {"role": "assistant", "id": id, "content": content}
    if not id:
        del message["id"]
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message, **more}


def noise(uuid: str, parent: str = "", type: str = "progress", **more: Any) -> Line:
    """A line that no party wrote."""
    return {"type": type, "uuid": uuid, "parentUuid": parent, **more}


def file_of(*lines: Line | bytes) -> bytes:
    """A file of lines; bytes are a line as it is."""
    return b"".join((x if isinstance(x, bytes) else json.dumps(x).encode()) + b"\n" for x in lines)


def lines_of(data: bytes) -> list[Line]:
    """The values of a file's lines."""
    return [json.loads(line) for line in data.split(b"\n") if line]


def parents(data: bytes) -> list[tuple[str, str]]:
    """Name and parent of each line."""
    return [(line["uuid"], line["parentUuid"]) for line in lines_of(data)]


def assert_caught(name: str) -> None:
    """The mutant is caught by the finding made for it; the reference agent, with its archive and
    without, has none on the same scenario."""
    wrong = mutants.named(name)
    scenario = named(wrong.mutant.scenario)
    found = [f.code for f in run(scenario, wrong.agent).verdict.findings]
    assert is_killed(wrong.mutant, found), found
    for options in ({}, {"archive": True}):
        assert run(scenario, reference, options=options).verdict.findings == ()


def archive_in(folder: Path) -> Archive:
    """An archive in a folder."""
    return Archive(folder / "claude", folder)


def archived(folder: Path, store: Any) -> ArchivedTranscript:
    """A transcript of the session `main` with an archive."""
    return ArchivedTranscript(archive_in(folder), store, "main", list)


_TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["\x00", '"', "\\", "\u2028\u2029\x85", "\U0001f600", "e\u0301", "", "x" * 999]
    ),
)
_NAMES = st.text("abc_", min_size=1, max_size=5)
_INPUTS = st.dictionaries(_NAMES, st.one_of(_TEXTS, st.integers(-9, 9), st.none()), max_size=3)
_IMAGE = Opaque("image", {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}})
_PARTS = st.lists(st.one_of(_TEXTS.map(Text), st.just(_IMAGE)), max_size=2).map(tuple)
_BLOCKS = {
    "user": st.one_of(
        _TEXTS.map(Text),
        st.just(_IMAGE),
        st.builds(ToolResult, _NAMES, st.one_of(_TEXTS, _PARTS), st.booleans()),
    ),
    "assistant": st.one_of(
        _TEXTS.map(Text),
        st.builds(Thinking, _TEXTS, _NAMES),
        st.builds(lambda data: Thinking(redacted=data), _NAMES),
        st.builds(ToolUse, _NAMES, _NAMES, _INPUTS),
    ),
}


@st.composite
def _message(draw: st.DrawFn) -> Message:
    role = draw(st.sampled_from(["user", "assistant"]))
    return Message(role, tuple(draw(st.lists(_BLOCKS[role], min_size=1, max_size=3))))


MESSAGES = st.lists(_message(), max_size=8)
"""Histories of any roles in any order."""

TALK = (user("Where?"), assistant("In Oslo."), user("When?"), assistant("In May."))
