"""Messages of JSON in a table and in files: read beside a writer, in any shape."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.stores import Store
from harness.stores.opening import open_reader

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
    {"role": "assistant", "content": [{"type": "text", "text": "A cat."}]},
]
SHAPES = ["Look.", "", "a cat", "A cat."]
SPEC = "json_table:agent.db?table=log&column=said"


def _told(store: Store) -> list[tuple[str, str, str]]:
    return [(row.id, row.session, message.text or "") for row, message in store.read()]


def _texts(store: Store) -> list[str]:
    return [
        "".join(result.text for result in message.tool_results) or message.text
        for _, message in store.read()
    ]


def _add(path: Path, *said: Any, key: str = "main") -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY, key, at, said)")
        for one in said:
            text = one if isinstance(one, str) else json.dumps(one)
            db.execute("INSERT INTO log (key, at, said) VALUES (?, 1, ?)", (key, text))


def test_a_table_is_read_as_it_grows(tmp_path: Path) -> None:
    store = open_reader(SPEC, tmp_path)
    assert store.read() == []
    _add(tmp_path / "agent.db", *TALK[:1])
    assert _told(store) == [("1", "", "Look.")]
    _add(tmp_path / "agent.db", *TALK[1:])
    assert _texts(store) == SHAPES
    assert [row.id for row, _ in store.read()] == ["1", "2", "3", "4"]
    assert [message.tool_uses[0].name for _, message in store.read() if message.tool_uses] == [
        "look"
    ]


def test_a_row_may_hold_a_list_and_tells_its_session(tmp_path: Path) -> None:
    _add(tmp_path / "agent.db", {"messages": TALK}, key="ada")
    store = open_reader(f"{SPEC}&session=key&order=at", tmp_path)
    assert _texts(store) == SHAPES
    assert {(row.id, row.session) for row, _ in store.read()} == {
        (f"1/{number}", "ada") for number in range(1, 5)
    }


@pytest.mark.parametrize("said", ["", "{", "[]", '{"kind": "title"}', "17", '{"role": "user"'])
def test_what_is_no_message_is_no_row(tmp_path: Path, said: str) -> None:
    _add(tmp_path / "agent.db", TALK[0], said, TALK[0])
    assert [row[0] for row in _told(open_reader(SPEC, tmp_path))] == ["1", "3"]


def test_a_changed_row_has_changed(tmp_path: Path) -> None:
    _add(tmp_path / "agent.db", TALK[0])
    store = open_reader(SPEC, tmp_path)
    ((before, _),) = store.read()
    with closing(sqlite3.connect(tmp_path / "agent.db")) as db, db:
        db.execute("UPDATE log SET said = ?", (json.dumps({"role": "user", "content": "No."}),))
    ((after, _),) = store.read()
    assert (before.id, before.digest != after.digest) == (after.id, True)


def test_a_view_is_never_read_and_says_so(tmp_path: Path) -> None:
    _add(tmp_path / "agent.db", TALK[0])
    with closing(sqlite3.connect(tmp_path / "agent.db")) as db:
        db.execute("CREATE VIEW seen AS SELECT * FROM log")
    with pytest.raises(InputError, match=r"agent.db: seen: is a view"):
        open_reader("json_table:agent.db?table=seen&column=said", tmp_path).read()
    assert open_reader("json_table:agent.db?table=other&column=said", tmp_path).read() == []


def test_the_name_of_a_table_is_that_of_sql(tmp_path: Path) -> None:
    _add(tmp_path / "agent.db", TALK[0])
    assert open_reader("json_table:agent.db?table=LOG&column=said", tmp_path).read()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "json_table needs FILE"),
        ("?table=log", "json_table needs FILE"),
        ("?table=log&column=said&sort=at", "a table has no 'sort'"),
    ],
)
def test_a_text_that_names_no_table_is_refused(tmp_path: Path, words: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        open_reader(f"json_table:agent.db{words}", tmp_path)


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    _add(tmp_path / "agent.db", TALK[0])
    with pytest.raises(InputError, match="no column 'says'; known: at, id, key, said"):
        open_reader("json_table:agent.db?table=log&column=says", tmp_path).read()
    (tmp_path / "agent.db").write_bytes(b"not a database, but a text of some length")
    with pytest.raises(InputError, match="cannot be read as a SQLite database"):
        open_reader(SPEC, tmp_path).read()


def test_a_file_that_is_too_large_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.stores.formats.json_rows.MAX_LINE_BYTES", 60)
    (tmp_path / "small.json").write_text(json.dumps(TALK[:1]))
    (tmp_path / "large.json").write_text(json.dumps(TALK))
    assert [row[1] for row in _told(open_reader("json_files:.", tmp_path))] == ["small"]


def test_a_folder_of_files_is_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    store = open_reader("json_files:talks", tmp_path)
    assert store.read() == []
    folder = tmp_path / "talks"
    (folder / "old").mkdir(parents=True)
    (folder / "main.json").write_text(json.dumps(TALK))
    (folder / "old" / "ada.json").write_text(json.dumps({"messages": TALK[:1]}))
    (folder / "torn.json").write_text(json.dumps(TALK)[:-9])
    assert _texts(store) == [*SHAPES, "Look."]
    assert {row.session for row, _ in store.read()} == {"main", "ada"}


@pytest.mark.parametrize(
    ("name", "session"),
    [("ada%20lee", "ada lee"), ("a%2Fb", "a/b"), ("Zo%C3%AB", "Zoë"), ("a#b?%20", "a#b?%20")],
)
def test_a_name_of_a_file_may_be_quoted(tmp_path: Path, name: str, session: str) -> None:
    """A session's name may hold what a file's name may not."""
    (tmp_path / f"{name}.json").write_text(json.dumps(TALK))
    (row, _), *_ = open_reader("json_files:.", tmp_path).read()
    assert row.session == session


def test_a_list_may_begin_with_a_call(tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "ping", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "pong"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
    for name, items in (("main", [call, output, said]), ("no", [call, output])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"messages": items}))
    read = open_reader("json_files:.", tmp_path).read()
    assert {row.session for row, _ in read} == {"main"}
    assert [len(m.tool_uses) + len(m.tool_results) for _, m in read] == [1, 1, 0]
