"""A format of a plug-in is known by name like ours, tried first, and its failures name it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from harness import InputError, Message, Text
from harness.parts.loading import Plugin, set_loaded
from harness.recordings import (
    Recording,
    Transcript,
    format_named,
    format_of,
    formats,
    parts_of,
    read,
    recognised_by,
    to_history,
)
from harness.recordings.recognition import line_format, read_lines
from tests.recordings.test_recognition import LOG

TALK = b"TALK 1\nhello\nwhat is it\n"


def talk_log(document: bytes) -> Recording | None:
    """Logs of the talk agent."""
    if not document.startswith(b"TALK 1\n"):
        return None
    texts = document.decode("utf-8", "replace").splitlines()[1:]
    if not texts:
        raise InputError("the log is empty", "line 2")
    said = zip(("user", "assistant") * len(texts), texts, strict=False)
    messages = tuple(Message(role, (Text(text),)) for role, text in said)
    return Recording((Transcript(name="talk", messages=messages),))


@recognised_by(lambda head: head.startswith(b"LINES\n"))
def line_log(lines: Iterable[bytes]) -> Recording | None:
    """Logs by lines."""
    texts = [line.decode().strip() for line in lines][1:]
    messages = tuple(Message("user", (Text(text),)) for text in texts)
    return Recording((Transcript(name="lines", messages=messages),))


def broken(document: bytes) -> Recording | None:
    return [][len(document)]  # type: ignore[no-any-return]


def wrong(document: bytes) -> Recording | None:
    return document and {}  # type: ignore[return-value]


def helper(path: str) -> str:
    return path


def _plugin(*functions: object, name: str = "my_parts") -> Plugin:
    module = ModuleType(name)
    for function in functions:
        function.__module__ = name
        setattr(module, function.__name__, function)  # type: ignore[attr-defined]
    return Plugin(name, module)


@pytest.fixture
def guests() -> Iterator[None]:
    set_loaded((_plugin(talk_log, line_log, helper),))
    yield
    set_loaded(())


def test_each_format_of_the_harness_has_a_row_in_the_docs_in_the_order_of_trial() -> None:
    page = (Path(__file__).parents[2] / "docs" / "recordings.md").read_text("utf-8")
    table = page.partition("| format | a transcript is |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = (line.split("|")[1] for line in table.splitlines())
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == list(formats())


def test_a_plug_in_brings_the_functions_of_a_document_or_of_lines() -> None:
    brought = parts_of(_plugin(talk_log, line_log, helper))
    assert {name: (kind.name, kind.title, kind.by_lines) for name, kind in brought.items()} == {
        "line_log": ("my_parts.line_log", "Logs by lines", True),
        "talk_log": ("my_parts.talk_log", "Logs of the talk agent", False),
    }


@pytest.mark.usefixtures("guests")
def test_it_is_known_by_name_and_tried_before_ours() -> None:
    assert list(formats())[:2] == ["my_parts.line_log", "my_parts.talk_log"]
    assert format_of(TALK) == "my_parts.talk_log"
    found = read(TALK)
    assert found == read(TALK, format="my_parts.talk_log")
    assert found.format == "my_parts.talk_log"
    (transcript,) = found.transcripts
    assert [message.text for message in transcript.messages] == ["hello", "what is it"]
    assert to_history(transcript).trace.starts[0].world == "recording"
    assert format_of(LOG) == read(LOG).format == "claude_code"


@pytest.mark.usefixtures("guests")
def test_a_refusal_has_a_reason_and_a_place() -> None:
    with pytest.raises(InputError, match="f: line 2: the log is empty"):
        read(b"TALK 1\n", "f")
    assert format_of(b"TALK 1\n") == "my_parts.talk_log"
    with pytest.raises(InputError, match=r"f: line 1: not in the format my_parts\.talk_log"):
        read(LOG, "f", "my_parts.talk_log")


@pytest.mark.usefixtures("guests")
def test_a_format_of_lines_is_read_in_lines() -> None:
    assert line_format(b"LINES\none\n") == "my_parts.line_log"
    assert line_format(TALK) == ""
    streamed = read_lines(iter([b"LINES\n", b"one\n"]), "f", "my_parts.line_log")
    assert streamed == read(b"LINES\none\n")


@pytest.mark.usefixtures("guests")
def test_what_json_cannot_say_is_made_encodable() -> None:
    found = format_named("my_parts.talk_log").read(b"TALK 1\n\xed\xa0\x80\n")
    assert to_history(found.transcripts[0])


def test_an_unknown_name_says_what_is_missing() -> None:
    with pytest.raises(InputError, match=r"no format is named 'my_parts\.talk_log'; ") as caught:
        read(TALK, format="my_parts.talk_log")
    assert "no plug-in with the prefix 'my_parts' is loaded" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (broken, "the format my_parts.broken failed: IndexError: list index out of range"),
        (wrong, "the format my_parts.wrong failed: it returned a dict, not a Recording"),
    ],
)
def test_a_defect_of_a_guest_names_its_format(function: object, says: str) -> None:
    set_loaded((_plugin(function),))
    try:
        with pytest.raises(InputError, match=says):
            read(LOG)
    finally:
        set_loaded(())
    assert read(LOG).format == "claude_code"
