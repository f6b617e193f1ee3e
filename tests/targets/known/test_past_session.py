"""A stored session in the forms of programs: what is written reads back, and the rest is named."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import Scenario, Session
from harness.core.values.messages import (
    Block,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    user,
)
from harness.files.recording_file import read_recording
from harness.runner.needs import unplayable
from harness.runner.session_seed import write_seed
from harness.targets import TargetSpec
from harness.targets.known import known
from harness.targets.known.past_session import FORMS, document, unwritable

ID = "87af1c33-b09a-5d85-9a54-242d91ded022"
PREFIX = "mcp__harness__"
PICTURE = Opaque(
    "image",
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
)
TALK = (
    user("Look Ada up."),
    Message("assistant", (Text("Looking."), ToolUse("c1", "find", {"of": "Ada"}))),
    Message("user", (ToolResult("c1", "found"),)),
    Message("assistant", (Text("Found."),)),
    user("Are you there?"),
    user("Hello?"),
)
WHY = "which the program does not keep"
CUT = Message("assistant", (ToolUse("c2", "find", {}),))

_said = st.text("abc ", min_size=1).map(lambda text: f"say {text}.")


@st.composite
def talks(draw: st.DrawFn) -> tuple[Message, ...]:
    """Turns of a question, some calls with their results, and an answer, or none."""
    messages: list[Message] = []
    for turn, calls in enumerate(draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))):
        messages.append(user(draw(_said)))
        uses = [ToolUse(f"c{turn}_{n}", "find", {"n": n}) for n in range(calls)]
        if uses:
            messages.append(Message("assistant", (Text(draw(_said)), *uses)))
            results: list[Block] = [
                ToolResult(use.id, draw(_said), draw(st.booleans())) for use in uses
            ]
            messages.append(Message("user", tuple(results)))
        if draw(st.booleans()):
            messages.append(Message("assistant", (Text(draw(_said)),)))
    return tuple(messages)


@pytest.mark.parametrize("form", FORMS)
@given(talk=talks())
def test_what_is_written_is_read_back_by_the_reader_of_its_form(
    form: str, talk: tuple[Message, ...]
) -> None:
    assert unwritable(form, talk) == ""
    assert _facts(_read(form, talk)) == _facts(talk)


def _read(form: str, talk: tuple[Message, ...]) -> tuple[Message, ...]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "kept.jsonl")
        file.write_text(_document(form, talk, Path(folder)), "utf-8")
        (transcript,) = read_recording(file, form).transcripts
    return transcript.messages


def _document(form: str, talk: tuple[Message, ...], folder: Path) -> str:
    write_seed(folder, talk)
    facts = {"id": ID, "work": "/w", "version": "1", "model": "m", "prefix": PREFIX}
    return document(form, folder / "seed.jsonl", **facts)


def _facts(messages: tuple[Message, ...]) -> list[tuple[Any, ...]]:
    """What is said, called and answered, in order; formats cut one message in several, or join."""
    found: list[tuple[Any, ...]] = []
    for message in messages:
        for block in message.blocks:
            match block:
                case Text(text):
                    found.append((message.role, text))
                case ToolUse(id_, name, given):
                    found.append(("call", id_, name.removeprefix(PREFIX), given))
                case ToolResult(id_):
                    found.append(("result", id_, block.text))
    return found


def test_calls_are_those_of_the_tools_that_the_program_offers(tmp_path: Path) -> None:
    for form in FORMS:
        (name,) = {use.name for message in _read(form, TALK) for use in message.tool_uses}
        assert name == ("find" if form == "codex" else f"{PREFIX}find")
    assert '"namespace": "mcp__harness"' in _document("codex", TALK, tmp_path)


def test_entries_of_a_tree_are_each_the_child_of_the_one_before(tmp_path: Path) -> None:
    for form in ("claude_code", "qwen_code"):
        entries = [json.loads(line) for line in _document(form, TALK, tmp_path).splitlines()]
        names = [entry["uuid"] for entry in entries]
        assert [entry["parentUuid"] for entry in entries] == [None, *names[:-1]]
        stamps = [entry["timestamp"] for entry in entries]
        assert stamps == sorted(stamps)
        assert {entry["cwd"] for entry in entries} == {"/w"}


def test_a_picture_goes_in_as_each_form_has_it(tmp_path: Path) -> None:
    seen = (Message("user", (Text("See."), PICTURE)),)
    for form in FORMS:
        assert "aGk=" in _document(form, seen, tmp_path)


def test_a_call_that_was_cut_short_still_runs_in_opencode(tmp_path: Path) -> None:
    failed = Message("user", (ToolResult("c2", "no such row", True),))
    thought = Message("assistant", (Thinking("Hm."), Text("So.")))
    written = json.loads(_document("opencode", (*TALK, CUT), tmp_path))
    assert unwritable("opencode", TALK[1:]) == "an answer without a question"
    assert written["messages"][-1]["parts"][-1]["state"]["status"] == "running"
    written = json.loads(_document("opencode", (*TALK, CUT, failed, thought), tmp_path))
    *_, call, thinking = written["messages"]
    assert call["parts"][-1]["state"]["error"] == "no such row"
    assert [part["type"] for part in thinking["parts"]] == ["step-start", "reasoning", "text"]


@pytest.mark.parametrize(
    ("form", "more", "reason"),
    [
        ("opencode", Message("user", (ToolResult("c9", "lost"),)), "a result without its call"),
        ("opencode", Message("user", (ToolResult("c1", "again"),)), "a result without its call"),
        ("gemini_cli", CUT, "a call without a result"),
        ("codex", Message("assistant", ()), "an empty message"),
        ("qwen_code", Message("user", ()), "an empty message"),
    ],
)
def test_what_a_form_cannot_hold_makes_the_run_not_applicable(
    form: str, more: Message, reason: str, tmp_path: Path
) -> None:
    assert unwritable(form, (*TALK, more)) == reason
    assert unwritable("claude_code", (*TALK, more)) == ""
    write_seed(tmp_path, (*TALK, more))
    session = Session(format="jsonl", file="seed.jsonl")
    scenario = Scenario(name="past", folder=str(tmp_path), session=session)
    for past, lacks in ((form, [f"needs a session with {reason}, {WHY}"]), ("claude_code", [])):
        program = TargetSpec("p", "process", command=("p",), past=past)
        found = unplayable(scenario, program, "supervise")
        assert [lack.reason for lack in found] == lacks


def test_each_known_program_that_takes_a_session_names_a_form() -> None:
    for name, row in known().items():
        if row.profile.declares("session") and name != "hermes":
            assert row.past.form in FORMS
            assert "{past}" in row.past.files.values()
