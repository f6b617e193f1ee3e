"""Recordings in files: a database is opened by its name, all else is read as it lies."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.files.recording_file import read_any_recording
from tests.stores.hermes_database import add_turn, create


def test_a_database_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    db = create(tmp_path / "notes.txt")
    add_turn(db)
    db.close()
    recording = read_any_recording(tmp_path / "notes.txt")
    assert (recording.format, len(recording.transcripts)) == ("hermes", 1)
    with pytest.raises(InputError, match="read from its file, not from bytes"):
        read_any_recording(tmp_path / "notes.txt", "claude_code")


def test_a_log_is_read_as_text(tmp_path: Path) -> None:
    line = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "go"}}
    (tmp_path / "s").write_text(json.dumps(line))
    assert read_any_recording(tmp_path / "s").format == "claude_code"
    with pytest.raises(InputError, match="SQLite database"):
        read_any_recording(tmp_path / "s", "hermes")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no regular file"):
        read_any_recording(tmp_path / "pipe")
