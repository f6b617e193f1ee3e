"""Session logs and traces of every kind: told apart, read in lines as in one piece, and never
more than a recording or an error, however they are damaged."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.history import encode
from harness.core.values.errors import InputError
from harness.recordings.recognition import format_of, formats, line_format, read, read_lines
from harness.recordings.session_log import split
from harness.recordings.tables import MAGIC
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from tests.recordings.readers import (
    test_agents_run_state,
    test_claude_stream,
    test_codex,
    test_copilot_cli,
    test_gemini_cli,
    test_gemini_stream,
    test_managed_agents,
    test_opencode,
    test_otel,
    test_pi,
    test_qwen_code,
)
from tests.recordings.test_recognition import LOG, OURS

SAMPLES = {
    "agents_run_state": [test_agents_run_state.state(*test_agents_run_state.PARKED)],
    "claude_code": [LOG],
    "claude_stream": [test_claude_stream.stream(*test_claude_stream.RUN)],
    "codex": [test_codex.log(*test_codex.TURN)],
    "copilot_cli": [test_copilot_cli.log(*test_copilot_cli.TURN)],
    "gemini_cli": [
        test_gemini_cli.session(*test_gemini_cli.TURN),
        test_gemini_cli.lines(*test_gemini_cli.RECORDS),
    ],
    "gemini_stream": [test_gemini_stream.stream(*test_gemini_stream.RUN)],
    "history": [OURS],
    "managed_agents": [test_managed_agents.lines(*test_managed_agents.SESSION)],
    "opencode": [test_opencode.session(*test_opencode.TURN)],
    "otel": list(test_otel.DUMPS.values()),
    "pi": [test_pi.log(*test_pi.TURN)],
    "qwen_code": [test_qwen_code.log(*test_qwen_code.TURN)],
}
EACH = [(name, sample) for name, samples in SAMPLES.items() for sample in samples]
LINES = [(name, sample) for name, sample in EACH if formats()[name].by_lines]


@pytest.mark.parametrize(("name", "sample"), EACH)
def test_a_sample_is_of_one_format_alone(name: str, sample: bytes) -> None:
    own = {found: kind for found, kind in formats().items() if not kind.fits_others}
    assert [found for found, kind in own.items() if kind.recognises(sample)] == [name]
    assert format_of(sample) == read(sample).format == name


def test_the_bytes_of_a_database_are_no_recording() -> None:
    database = MAGIC + bytes(100)
    assert [found for found, kind in formats().items() if kind.recognises(database)] == []
    with pytest.raises(InputError, match="read from its file, not from bytes"):
        read(database)


@pytest.mark.parametrize(("name", "sample"), LINES)
def test_lines_are_read_as_the_whole_is(name: str, sample: bytes) -> None:
    first = sample.partition(b"\n")[0] + b"\n"
    assert line_format(first) == line_format(sample) == name
    assert read_lines(split(sample), "f", name) == read(sample)


def test_only_formats_of_lines_are_read_in_lines() -> None:
    assert line_format(test_otel.DUMPS["lines"]) == line_format(OURS) == ""
    assert line_format(b"[1]", "codex") == "codex"
    assert line_format(LOG, "vcr") == ""
    with pytest.raises(InputError, match="no format is named"):
        line_format(LOG, "codecs")
    with pytest.raises(InputError, match="the file is empty"):
        line_format(b"\n")


def test_an_error_in_a_line_names_the_file_and_the_line() -> None:
    with pytest.raises(InputError, match="f: line 1: no line holds an item"):
        read_lines([b"{}\n"], "f", "codex")


def _survives(data: bytes, name: str) -> None:
    for format in ("auto", name):
        transcripts, error = _read(data, format)
        assert "\n" not in error
        for transcript in transcripts:
            assert counts(transcript)["tool_calls"] >= 0
            encode(to_history(transcript).events)


def _read(data: bytes, format: str) -> tuple[tuple[Transcript, ...], str]:
    try:
        return read(data, "f", format).transcripts, ""
    except InputError as error:
        return (), str(error)


@given(st.sampled_from(EACH), st.data())
def test_a_cut_file_is_read_or_refused(sample: tuple[str, bytes], data: st.DataObject) -> None:
    name, whole = sample
    _survives(whole[: data.draw(st.integers(0, len(whole)))], name)


@given(st.sampled_from(EACH), st.data())
def test_a_flipped_byte_is_read_or_refused(sample: tuple[str, bytes], data: st.DataObject) -> None:
    name, whole = sample
    at = data.draw(st.integers(0, len(whole) - 1))
    _survives(whole[:at] + bytes([data.draw(st.integers(0, 255))]) + whole[at + 1 :], name)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.sampled_from(EACH), _JSON, st.data())
def test_any_value_in_the_place_of_another_is_read_or_refused(
    sample: tuple[str, bytes], value: object, data: st.DataObject
) -> None:
    name, whole = sample
    lines = whole.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    held = json.loads(lines[at])
    place = held
    while isinstance(place, dict) and place:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or data.draw(st.booleans()):
            place[key] = value
            break
        place = place[key]
    lines[at] = json.dumps(held).encode() + b"\n"
    _survives(b"".join(lines), name)
