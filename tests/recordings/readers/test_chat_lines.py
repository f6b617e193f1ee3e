"""Chats on lines: each is a transcript, and what is wrong with one costs only itself."""

from __future__ import annotations

import json

import pytest

from harness.core.values.errors import InputError
from harness.recordings.recognition import format_named, format_of
from tests.recordings.documents import anthropic_messages, openai_messages

CHAT_LINES = format_named("chat_lines")
LINE = json.dumps({"messages": openai_messages()})


def test_each_line_is_a_transcript_in_its_own_shape() -> None:
    other = json.dumps({"model": "m", "messages": anthropic_messages()})
    found = CHAT_LINES.read(f"{LINE}\n\n{other}\n".encode()).transcripts
    assert [(t.name, t.wire) for t in found] == [("line 1", "openai-chat"), ("line 3", "anthropic")]


def test_what_is_wrong_with_a_line_costs_only_itself() -> None:
    data = f'{LINE}\n{{}}\n[3]\n{LINE}\n{{"mess'.encode()
    recording = CHAT_LINES.read(data)
    assert [t.name for t in recording.transcripts] == ["line 1", "line 4"]
    assert [(r.place, r.what) for r in recording.refusals] == [
        ("line 2", "holds no list of messages")
    ]
    assert recording.notes == (
        "line 3: not a JSON object, skipped",
        "line 5: the last line is torn, skipped",
    )


def test_one_line_alone_is_a_document() -> None:
    assert format_of(LINE.encode()) == "chat_json"
    assert format_of(f"{LINE}\n{LINE}".encode()) == "chat_lines"


def test_a_line_about_the_file_may_stand_before_the_chats() -> None:
    data = f'{{"metadata": {{"benchmark": "x"}}}}\n{LINE}\n'.encode()
    assert format_of(data) == "chat_lines"
    recording = CHAT_LINES.read(data)
    assert [t.name for t in recording.transcripts] == ["line 2"]
    assert recording.refused == {"holds no list of messages": 1}


@pytest.mark.parametrize("data", [b"", b'{"a": 1}\n{"a": 1}', b"[]\n[]"])
def test_lines_without_messages_are_refused(data: bytes) -> None:
    assert not CHAT_LINES.recognises(data)
    with pytest.raises(InputError, match="no list of messages"):
        CHAT_LINES.read(data)


@pytest.mark.parametrize(("asked", "said"), [
    ("request", "response"), ("request_body", "response_body"), ("inputs", "outputs"),
])  # fmt: skip
@pytest.mark.parametrize("as_text", [False, True])
def test_the_log_of_a_gateway_holds_both_sides_of_a_call(
    asked: str, said: str, as_text: bool
) -> None:
    request = {"model": "m", "messages": openai_messages()[:2]}
    answer = {"content": "two files", "tool_calls": [], "finish_reason": "stop"}
    sides = [json.dumps(side) if as_text else side for side in (request, answer)]
    data = json.dumps({"entry": 1, asked: sides[0], said: sides[1]}).encode()
    recording = CHAT_LINES.read(data + b"\n" + data)
    assert format_of(data + b"\n" + data) == "chat_lines"
    assert [t.messages[-1].text for t in recording.transcripts] == ["two files"] * 2
    assert [(t.model, t.stops) for t in recording.transcripts] == [("m", {2: "stop"})] * 2


def test_the_output_of_a_run_may_be_a_list_of_messages() -> None:
    asked, told = openai_messages()[:2], [{"role": "assistant", "content": "two files"}]
    row = {"id": "r", "inputs": {"messages": asked}, "outputs": {"messages": told}}
    (found,) = CHAT_LINES.read(json.dumps(row).encode()).transcripts
    assert (found.answered, found.messages[-1].text) == (True, "two files")
