"""The face of the readers: the format is told by the content, errors are one line with a place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.history import encode
from harness.core.values.errors import InputError
from harness.core.values.messages import assistant, user
from harness.recordings.recognition import format_of, formats, read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from tests.recordings import documents
from tests.recordings.cassettes import DIALECTS

LOG = b"".join(
    json.dumps(line).encode() + b"\n"
    for line in (
        {"type": "file-history-snapshot", "messageId": "1"},
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "go"}},
        {
            "type": "assistant",
            "sessionId": "s",
            "message": {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "b"}]},
        },
    )
)
OURS = encode(to_history(Transcript(name="t", messages=(user("a"), assistant("b")))).events)
SAMPLES = [LOG, OURS, *DIALECTS.values(), *(data for _, data in documents.SAMPLES.values())]


@pytest.mark.parametrize("name", list(DIALECTS))
def test_every_dialect_of_vcr_is_told(name: str) -> None:
    assert format_of(DIALECTS[name]) == "vcr"
    assert read(DIALECTS[name]).format == "vcr"


def test_logs_and_histories_are_told() -> None:
    assert read(LOG).format == format_of(LOG) == "claude_code"
    assert read(OURS).format == format_of(OURS) == "history"
    history = read(OURS).history
    assert history is not None
    assert encode(history.events) == OURS


@pytest.mark.parametrize(
    ("data", "program"),
    [
        (b'{"step_index":0,"source":"MODEL","type":"X"}\n', "Antigravity CLI"),
        (b'{"role":"user","message":{"content":[]}}\n{"role": 1}\n', "Cursor"),
        (b'{"method":"generateContent","response":{}}\n', "Gemini CLI's recorded answers"),
        (b'{"type":"system","content":"You are Grok 4.5"}\n', "Grok CLI"),
        (b'{"type":"metadata","protocol_version":"1.4"}\n', "Kimi CLI"),
        (b'{"working_dir":"/w","description":"d"}\n{"role":"user"}\n', "goose's session"),
        (b'{"agents":[{"name":"n","messages":[]}]}', "Letta's agent file"),
        (b'{"id":"msg_1","sessionID":"ses_1","role":"user"}', "opencode's message"),
        (b'{"id":"prt_1","messageID":"msg_1","type":"text"}', "opencode's part"),
        (b'{"id":"ses_1","version":"1.3","projectID":"p"}', "opencode's session"),
        (b'{\n  "$schemaVersion": "1.0"\n}', "openai-agents' run state in JavaScript"),
    ],
)
def test_a_file_of_a_known_program_that_no_format_reads_is_named(data: bytes, program: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "f.x")
    assert caught.value.reason.startswith(f"looks like {program}: ")
    instead = "opencode export" if "opencode" in program else "docs/plug-ins.md"
    assert instead in caught.value.reason


@pytest.mark.parametrize(
    ("data", "program", "instead"),
    [
        (b'[{"id":"r","run_type":"llm","inputs":{}}]', "LangSmith's runs", "OTLP"),
        (b'{"id":"r","dotted_order":"1Z","inputs":{}}\n', "LangSmith's runs", "OTLP"),
        (b'[{"ts":1,"type":"say","say":"text","text":"x"}]', "Cline's screen", "beside it"),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/new"}\n', "ACP session updates", "agent"),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n',
            "ACP session updates",
            "agent",
        ),
        (b'{"sessionId":"s","update":{"sessionUpdate":"x"}}\n', "ACP session updates", "agent"),
        (b'STDIN: {"jsonrpc":"2.0","id":1,"method":"tools/call"}\n', "MCP traffic", "of the agent"),
        (b'{"type":"step_start","timestamp":1,"sessionID":"s"}\n', "opencode's stream", "export"),
        (
            b'[{"id": 1, "tools": "", "conversations": [{"from": "human", "value": "x"}]}]',
            "a training set in the form of ShareGPT",
            '"role"',
        ),
    ],
)
def test_a_refusal_says_what_to_read_instead(data: bytes, program: str, instead: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "f.x")
    assert caught.value.reason.startswith(f"looks like {program}: ")
    assert instead in caught.value.reason


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "f.x: line 1: the file is empty"),
        (b" \n\n", "f.x: line 1: the file is empty"),
        (b"a\nb\0c", "f.x: line 2: binary data: byte 3 is zero"),
        (
            b"\x89PNG\r\n",
            "f.x: line 1: format not recognised: `harness list formats` names what is read, "
            "docs/plug-ins.md shows how to add a reader",
        ),
        (b'{"interactions": [', "f.x: line 1: not JSON: Expecting value"),
        (
            b'{"type": "summary"}\n',
            "f.x: line 1: no line holds a message of user or assistant",
        ),
        (
            OURS + b'{"event": "called"',
            "f.x: line 7: no event of loop-harness: Input data was truncated",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line_with_a_place(data: bytes, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "f.x")
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("data", "shape"),
    [
        (b'{"steps": [], "final": "x"}', "a JSON object with steps, final"),
        (b'[{"thought": 1, "action": 2}, 3]', "a JSON list of objects with thought, action"),
        (b'{"ev": 1, "data": {}}\n{"ev": 2}\n', "JSON Lines with ev, data"),
        (b'{"a":1,"b":1,"c":1,"d":1,"e":1}', "a JSON object with a, b, c, d, ..."),
        (b'{"sk-ant-a key": 1, "ok": 2}', "a JSON object with ok"),
        (b"[1, 2]", "JSON"),
    ],
)
def test_json_of_no_known_format_is_told_by_its_first_keys(data: bytes, shape: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "f.x")
    assert caught.value.reason == f"format not recognised: {shape}"
    assert "harness list formats" in caught.value.more


def test_a_format_can_be_asked_for_by_name() -> None:
    assert read(LOG, format="claude_code").format == "claude_code"
    with pytest.raises(InputError, match="a cassette"):
        read(b"[1]", format="vcr")
    with pytest.raises(InputError, match="did you mean 'claude_code'"):
        read(LOG, format="claude-code")


def _survives(data: bytes, format: str = "auto") -> None:
    try:
        recording = read(data, "f", format)
    except InputError as error:
        text = str(error)
    else:
        text = ""
        for transcript in recording.transcripts:
            assert counts(transcript)["messages"] >= 0
            encode(to_history(transcript).events)
    assert "\n" not in text


@given(st.sampled_from(SAMPLES), st.data())
def test_a_cut_file_is_read_or_refused(sample: bytes, data: st.DataObject) -> None:
    _survives(sample[: data.draw(st.integers(0, len(sample)))])


@given(st.sampled_from(SAMPLES), st.data())
def test_a_damaged_file_is_read_or_refused(sample: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(sample)))
    size = data.draw(st.integers(0, 20))
    _survives(sample[:at] + data.draw(st.binary(max_size=20)) + sample[at + size :])


@given(st.binary(), st.sampled_from(["auto", *formats()]))
def test_any_bytes_are_read_or_refused(data: bytes, format: str) -> None:
    _survives(data, format)
