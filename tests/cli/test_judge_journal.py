"""The journal: what was judged is known again, what was torn or has changed is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.cli.judge_journal import NAME, JudgeJournal, asked_for, recall, stamp
from harness.core.scenario.scenario import Expect, ExpectReply
from harness.core.values.errors import InputError
from harness.recordings.transcripts import Refusal
from harness.verdicts.command_events import FileRead

FILE = FileRead(path="a", format="vcr", refusals=(Refusal("", "odd"),))


def _journal(folder: Path, recording: Path) -> Path:
    known = stamp(str(recording), "a", "auto")
    assert known is not None
    with JudgeJournal(folder) as journal:
        assert journal.place(known) is None
        journal.add(known, FILE)
    return folder / NAME


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A file to be judged."""
    path = tmp_path / "a"
    path.write_text("text")
    return path


def test_what_was_added_is_recalled(tmp_path: Path, recording: Path) -> None:
    path = _journal(tmp_path / "kept", recording)
    with JudgeJournal(tmp_path / "kept") as journal:
        place = journal.place(stamp(str(recording), "a", "auto"))
    assert place is not None
    assert recall(str(path), place) == FILE


def test_a_file_that_has_changed_is_another(tmp_path: Path, recording: Path) -> None:
    _journal(tmp_path / "kept", recording)
    with JudgeJournal(tmp_path / "kept") as journal:
        assert journal.place(stamp(str(recording), "a", "auto other")) is None
        recording.write_text("more text")
        assert journal.place(stamp(str(recording), "a", "auto")) is None
        recording.unlink()
        assert journal.place(stamp(str(recording), "a", "auto")) is None


def test_a_torn_line_is_no_line_and_the_next_one_is_whole(tmp_path: Path, recording: Path) -> None:
    path = _journal(tmp_path / "kept", recording)
    whole = path.read_bytes()
    for kept in range(1, len(whole)):
        path.write_bytes(whole[:kept])
        known = stamp(str(recording), "a", "auto")
        assert known is not None
        with JudgeJournal(tmp_path / "kept") as journal:
            if kept < len(whole) - 1:
                assert journal.place(known) is None
            journal.add(known, FILE)
        with JudgeJournal(tmp_path / "kept") as journal:
            place = journal.place(known)
        assert place is not None
        assert recall(str(path), place) == FILE


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--resume"):
        JudgeJournal(tmp_path / "file")


def test_what_is_asked_names_the_check_and_the_version() -> None:
    assert asked_for("vcr", None).startswith("vcr all ")
    assert asked_for("vcr", None) != asked_for("vcr", "valid_request")
    assert os.linesep not in asked_for("auto", None)
    asked = Expect(reply=ExpectReply(has="42"))
    assert asked_for("vcr", None, expect=asked) != asked_for("vcr", None)
