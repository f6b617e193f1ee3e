"""Store readers: a file of messages, our own by name, and those of plug-ins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.scenario.scenario import Scenario, Session
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, assistant, user
from harness.parts.loading import Plugin, set_loaded
from harness.runner.session_seed import seed_messages
from harness.stores import parts_of, readers
from harness.stores.formats.own_formats import MessageLines
from harness.stores.opening import open_reader
from tests.stores import guest_readers
from tests.stores.hermes_database import add_turn, create


def _written(path: Path, *messages: Message) -> MessageLines:
    path.write_bytes(b"".join(msgspec.json.encode(m) + b"\n" for m in messages))
    return MessageLines(path)


def test_a_file_that_is_not_there_yet_has_no_rows(tmp_path: Path) -> None:
    assert MessageLines(tmp_path / "session.jsonl").read() == []


@given(texts=st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1)))
def test_rows_come_back_in_order(tmp_path_factory: object, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("rows") / "session.jsonl"  # type: ignore[attr-defined]
    messages = [user(text) for text in texts]
    rows = _written(path, *messages).read()
    assert [message for _, message in rows] == messages
    assert [row.id for row, _ in rows] == [str(n) for n in range(1, len(texts) + 1)]


def test_the_inbound_id_is_kept_and_a_torn_tail_is_not(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    _written(path, assistant("hello"))
    whole = b'{"role":"user","blocks":[{"type":"text","text":"a\xe2\x80\xa8b"}],"id":"m1"}\n'
    path.write_bytes(path.read_bytes() + whole + b'{"role":"assistant","bl')
    (first, _), (second, message) = MessageLines(path).read()
    assert (first.inbound, second.inbound) == ("", "m1")
    assert message.text == "a\u2028b"


def test_a_path_may_name_the_session_of_each_file(tmp_path: Path) -> None:
    for name, text in (("ada", "a"), ("bob", "b"), ("ada.old", "c")):
        _written(tmp_path / f"s-{name}.jsonl", user(text), assistant(text.upper()))
    rows = open_reader("jsonl:s-{session}.jsonl", tmp_path).read()
    assert [(row.id, row.session, m.text) for row, m in rows] == [
        ("ada/1", "ada", "a"),
        ("ada/2", "ada", "A"),
        ("ada.old/1", "ada.old", "c"),
        ("ada.old/2", "ada.old", "C"),
        ("bob/1", "bob", "b"),
        ("bob/2", "bob", "B"),
    ]


def test_a_path_may_name_the_session_by_a_folder_and_a_file(tmp_path: Path) -> None:
    for folder, file in (("ada", "ada"), ("ada", "bob"), ("x[1]", "x[1]")):
        (tmp_path / "at [1]" / folder).mkdir(parents=True, exist_ok=True)
        _written(tmp_path / "at [1]" / folder / f"{file}.jsonl", user(folder))
    rows = open_reader("jsonl:at [1]/{session}/{session}.jsonl", tmp_path).read()
    assert [row.session for row, _ in rows] == ["ada", "x[1]"]


def test_the_files_of_a_folder_are_read_in_order_and_name_no_session(tmp_path: Path) -> None:
    (tmp_path / "log" / "2").mkdir(parents=True)
    _written(tmp_path / "log" / "2" / "b.jsonl", user("second"))
    _written(tmp_path / "log" / "1.jsonl", user("first"))
    rows = open_reader("jsonl:log", tmp_path).read()
    assert [(row.id, row.session, m.text) for row, m in rows] == [
        ("1/1", "", "first"),
        ("2/b/1", "", "second"),
    ]


def test_sessions_that_are_not_there_yet_have_no_rows(tmp_path: Path) -> None:
    assert open_reader("jsonl:{session}/log.jsonl", tmp_path).read() == []


def test_stores_of_other_agents_are_found_below_the_session_folder(tmp_path: Path) -> None:
    db = create(tmp_path / "state.db")
    add_turn(db)
    store = open_reader("hermes:state.db", tmp_path)
    assert (store.name, len(store.read())) == ("hermes", 4)
    db.close()
    (tmp_path / "logs").mkdir()
    said = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "go"}}
    (tmp_path / "logs" / "s.jsonl").write_text(json.dumps(said) + "\n")
    log = open_reader("claude_code:logs", tmp_path)
    assert [message.text for _, message in log.read()] == ["go"]
    assert log.name == "claude_code"


@pytest.mark.parametrize("spec", ["sqlit:x.db", "x.db", "jsonl:"])
def test_an_unknown_reader_is_an_error(tmp_path: Path, spec: str) -> None:
    with pytest.raises(InputError, match="READER:PATH"):
        open_reader(spec, tmp_path)


def test_our_readers_are_recognised_by_their_signature() -> None:
    ours = "claude_code database hermes json_files json_table jsonl postgres sqlite"
    assert sorted(readers()) == ours.split()


@pytest.fixture
def plugin() -> Iterator[Plugin]:
    """A loaded plug-in."""
    loaded = Plugin("my_parts", guest_readers)
    set_loaded((loaded,))
    yield loaded
    set_loaded(())


def test_a_reader_of_a_plugin_is_recognised_by_its_signature(plugin: Plugin) -> None:
    assert sorted(parts_of(plugin)) == ["derived", "for_checkers", "notes", "server"]
    assert "my_parts.notes" in readers()


def test_a_reader_of_a_plugin_opens_a_path_below_the_folder_or_a_url(
    plugin: Plugin, tmp_path: Path
) -> None:
    (tmp_path / "n.txt").write_text("one\ntwo\n")
    store = open_reader("my_parts.notes:n.txt", tmp_path)
    assert [message.text for _, message in store.read()] == ["one", "two"]
    reached: Any = open_reader("my_parts.server:http://127.0.0.1:1/x", tmp_path)
    assert reached.place == "http://127.0.0.1:1/x"


def test_a_reader_of_a_plugin_reads_a_session_to_begin_with(plugin: Plugin, tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("one\ntwo\n")
    session = Session(format="my_parts.notes", file="n.txt")
    scenario = Scenario(name="t", folder=str(tmp_path), session=session)
    assert [message.text for message in seed_messages(scenario)] == ["one", "two"]
    (tmp_path / "n.txt").unlink()
    with pytest.raises(InputError, match=r"n.txt: cannot be read"):
        seed_messages(scenario)


def test_an_unknown_reader_is_told_with_the_plugin_that_is_missing(tmp_path: Path) -> None:
    session = Session(format="my_parts.notes", file="n.txt")
    with pytest.raises(InputError, match=r"no store reader 'my_parts.notes'.*--plugin MODULE"):
        seed_messages(Scenario(name="t", folder=str(tmp_path), session=session))
    with pytest.raises(InputError, match=r"READER:PATH.*--plugin MODULE"):
        open_reader("my_parts.notes:x", tmp_path)
