"""hermes' database read beside a running agent, and as an incident: never written, never run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Message
from harness.files.recording_file import read_any_recording
from harness.stores.formats.hermes import HermesStore
from tests.stores.hermes_database import add, add_turn, create

_SAID = ["go", "", "", "done"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The place of a database, of which nothing is there yet."""
    return tmp_path / "state.db"


def _beside(path: Path) -> set[str]:
    return {file.name for file in path.parent.iterdir()}


@pytest.mark.parametrize("new", [False, True])
def test_what_a_running_agent_wrote_last_is_seen(path: Path, new: bool) -> None:
    store = HermesStore(path)
    assert store.read() == []
    db = create(path, new)
    assert store.read() == []
    add_turn(db)
    assert [message.text for _, message in store.read()] == _SAID
    add(db, "user", "more", **({"platform_message_id": "u2"} if new else {}))
    row, message = store.read()[-1]
    assert (row.id, row.inbound, message.text) == ("5", "u2" if new else "", "more")
    db.close()


def test_rows_that_a_compaction_replaced_are_gone(path: Path) -> None:
    db, store = create(path), HermesStore(path)
    add_turn(db)
    db.execute("UPDATE messages SET active = 0, compacted = 1")
    add(db, "user", "summary")
    assert [message.text for _, message in store.read()] == ["summary"]
    db.close()


def test_an_incident_is_read_with_its_log_and_without(path: Path) -> None:
    db = create(path)
    add_turn(db)
    assert path.with_name("state.db-wal").stat().st_size
    (found,) = read_any_recording(path, "hermes").transcripts
    assert [m.text for m in found.messages] == _SAID
    assert (found.name, found.model, found.system) == ("s1", "m", "be kind")
    db.close()
    assert _beside(path) == {"state.db"}, "closed, so the log is in the file"
    assert read_any_recording(path).transcripts == (found,)
    assert _beside(path) == {"state.db"}, "nothing is left beside a file that no process has open"


def test_a_file_in_a_folder_with_odd_signs_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c#d%e"
    folder.mkdir()
    db = create(folder / "state.db")
    add_turn(db)
    db.close()
    assert len(read_any_recording(folder / "state.db").transcripts[0].messages) == 4


def test_bytes_that_are_no_text_are_read_as_marks(path: Path) -> None:
    db = create(path)
    db.execute(
        "INSERT INTO messages (session_id, role, content, timestamp)"
        " VALUES ('s1', 'user', CAST(x'61ff62' AS TEXT), 1)"
    )
    db.close()
    assert read_any_recording(path, "hermes").transcripts[0].messages[0].text == "a\ufffdb"


def test_another_database_is_refused(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE sessions (id TEXT)")
    db.close()
    with pytest.raises(InputError, match="no format reads"):
        read_any_recording(path, "hermes")
    assert HermesStore(path).read() == []


def test_a_view_in_the_place_of_the_table_is_never_asked(path: Path) -> None:
    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE sessions (id TEXT, model TEXT);"
        "CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id FROM n)"
        " SELECT id, 's' AS session_id, 'user' AS role FROM n;"
    )
    db.close()
    with pytest.raises(InputError, match="no format reads"):
        read_any_recording(path, "hermes")


@pytest.mark.real
def test_a_column_that_is_computed_is_never_asked(path: Path) -> None:
    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE sessions (id TEXT, model TEXT);"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
        " tool_calls TEXT, content AS (hex(zeroblob(400000000))));"
        "INSERT INTO messages (session_id, role) VALUES ('s', 'user');"
    )
    db.close()
    (found,) = read_any_recording(path, "hermes").transcripts
    assert found.messages == (Message("user"),)


def test_a_text_that_is_too_long_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.stores.plain_tables.MAX_LINE_BYTES", 1000)
    db = create(path)
    add(db, "user", "x" * 2000)
    db.close()
    with pytest.raises(InputError, match="too big"):
        read_any_recording(path, "hermes")


@pytest.mark.parametrize("cut", [16, 100, 4096, 10_000])
def test_a_torn_file_is_refused_with_its_name(path: Path, cut: int) -> None:
    db = create(path)
    for _ in range(50):
        add(db, "user", "x" * 500)
    db.close()
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"state\.db"):
        read_any_recording(path)


def test_a_file_that_is_not_there_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_any_recording(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_any_recording(path, "hermes")
