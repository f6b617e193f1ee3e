"""Recordings in files: memory grows with what is kept of a log, never with the file."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.files import recording_file, regular_file
from harness.files.recording_file import read_recording
from harness.recordings import session_log
from harness.recordings.recognition import formats

MB = 1024 * 1024
SAID = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "go"}}
GO = json.dumps(SAID).encode() + b"\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The place of a file."""
    return tmp_path / "f.jsonl"


def test_a_long_log_of_little_talk_needs_little_memory(path: Path) -> None:
    progress = json.dumps({"type": "progress", "data": "x" * 100_000}).encode() + b"\n"
    path.write_bytes(GO + progress * 300 + GO)
    assert path.stat().st_size > 28 * MB
    tracemalloc.start()
    try:
        (found,) = read_recording(path).transcripts
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.messages) == 2
    assert peak_bytes < 4 * MB


def test_a_first_line_may_be_longer_than_the_head(path: Path) -> None:
    snapshot = {"type": "file-history-snapshot", "data": "x" * 3 * MB}
    path.write_bytes(json.dumps(snapshot).encode() + b"\n" + GO)
    assert read_recording(path).format == "claude_code"


@pytest.mark.parametrize(
    ("before", "told"),
    [(b"", "as JSON.* and lines of at most"), (GO, "line 2: longer than")],
)
def test_a_line_that_is_too_long_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes, told: str
) -> None:
    for module in (recording_file, session_log):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(recording_file, "MAX_BYTES", 2000)
    monkeypatch.setattr(recording_file, "HEAD_BYTES", 100)
    long = json.dumps({**SAID, "data": "x" * 5000}).encode() + b"\n"
    path.write_bytes(before + long)
    with pytest.raises(InputError, match=told):
        read_recording(path)


def test_a_document_has_a_bound_and_lines_have_none(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_file, "MAX_BYTES", 100)
    path.write_bytes(GO * 10)
    assert len(read_recording(path).transcripts[0].messages) == 10
    path.write_bytes(b'{"interactions":\n[' + b" " * 100 + b"]}")
    with pytest.raises(InputError, match=r"too large: .* at most 128 MiB as JSON"):
        read_recording(path)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\0" * 50, b"\x89PNG\r\n", b"\xff\xfe{\0"])
def test_what_is_no_recording_is_one_line_with_the_file(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    for kind in ("auto", *formats()):
        with pytest.raises(InputError, match=r"f\.jsonl: .*line 1") as caught:
            read_recording(path, kind)
        assert "\n" not in str(caught.value)


def test_a_first_line_of_200_mb_is_refused_before_memory_holds_it(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(200 * MB)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"too large: 200 MiB; .* at most 128 MiB as JSON"):
        read_recording(path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 5 * MB


def test_a_log_in_gzip_is_read(path: Path) -> None:
    path.write_bytes(GO * 2)
    plain = read_recording(path)
    path.write_bytes(gzip.compress(GO * 2))
    assert read_recording(path) == plain


@pytest.mark.parametrize("cut", [2, 9, -4])
def test_a_torn_gzip_is_named(path: Path, cut: int) -> None:
    path.write_bytes(gzip.compress(GO * 2)[:cut])
    with pytest.raises(InputError, match="gzip is torn") as caught:
        read_recording(path)
    assert caught.value.place == str(path)


def test_a_gzip_that_grows_without_end_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regular_file.whole, "__defaults__", (MB,))
    path.write_bytes(gzip.compress(b" " * 8 * MB))
    with pytest.raises(InputError, match="larger than 1048576 bytes"):
        read_recording(path)
