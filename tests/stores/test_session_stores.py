"""The contract of a session store, over every store."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.core.values.calls import Inbound
from harness.core.values.messages import Text, ToolResult, ToolUse, assistant, digest, results, user
from harness.stores.jsonl import JsonlStore
from harness.stores.opening import open_store
from harness.stores.session_store import SessionStore
from harness.stores.sqlite import SqliteStore

Opener = Callable[[], SessionStore]


_POSTGRES = pytest.param("postgres", marks=pytest.mark.real)


@pytest.fixture(params=["sqlite", "jsonl", _POSTGRES])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same store, each time as a new object; its own schema on a server."""
    options = {"store": request.param}
    if request.param == "postgres":
        options["dsn"] = request.getfixturevalue("postgres_dsn")
    made: list[SessionStore] = []

    def opener() -> SessionStore:
        made.append(open_store(options, tmp_path))
        return made[-1]

    yield opener
    for store in made:
        store.close()


def test_rows_come_back_in_order_after_reopening(opened: Opener) -> None:
    said = [
        user("héllo\u2028\x00 “quoted” 🙂"),
        assistant("on it", ToolUse("t1", "look", {"a": [1, None]})),
        results(ToolResult("t1", (Text("x" * 100_000),), is_error=True)),
    ]
    store = opened()
    ids = [store.append("main", message) for message in said]
    again = opened()
    assert [row.message for row in again.load("main")] == said
    assert [row.id for row in again.load("main")] == ids
    assert len(set(ids)) == 3


def test_sessions_are_apart(opened: Opener) -> None:
    store = opened()
    store.append("a", user("for a"))
    store.append("b", user("for b"))
    assert [row.message.text for row in store.load("a")] == ["for a"]
    assert [message.text for _, message in store.read()] == ["for a", "for b"]


def test_an_inbound_message_is_accepted_once_over_restarts(opened: Opener) -> None:
    inbound = Inbound("m1", text="hi")
    assert opened().accept(inbound, user("hi"))
    again = opened()
    assert not again.accept(inbound, user("hi"))
    assert again.accept(Inbound("m1", session="other", text="hi"), user("hi"))
    assert [row.inbound for row in again.load("main")] == ["m1"]


def test_an_inbound_message_with_half_a_character_is_accepted(opened: Opener) -> None:
    """The inbox hands it out, so the store takes it; the agent's own row is clean."""
    store = opened()
    assert store.accept(Inbound("m1", text="half \udcff"), user("half ?"))
    assert [turn.inbound for turn in store.pending()] == [Inbound("m1", text="half ?")]


def test_a_turn_is_pending_until_its_reply_was_delivered(opened: Opener) -> None:
    inbound = Inbound("m1", text="hi")
    store = opened()
    store.accept(inbound, user("hi"))
    assert [(p.inbound, p.attempts, p.reply) for p in opened().pending()] == [(inbound, 1, None)]
    assert (store.begin(inbound), store.begin(inbound)) == (2, 3)
    store.reply(inbound, assistant("hello"), "ok", "final")
    [pending] = opened().pending()
    assert (pending.reply, pending.status, pending.kind) == ("hello", "ok", "final")
    store.delivered(inbound)
    assert not opened().pending()
    assert [row.message.text for row in opened().load("main")] == ["hi", "hello"]


def test_a_seed_is_history_and_owes_nothing(opened: Opener) -> None:
    store = opened()
    store.seed("main", [user("a"), user("b")])
    assert [row.message.text for row in opened().load("main")] == ["a", "b"]
    assert not store.pending()


def test_the_last_summary_opens_the_history_and_no_row_goes(opened: Opener) -> None:
    store = opened()
    ids = [store.append("main", user(text)) for text in "abcd"]
    store.summarise("main", user("first summary"), ids[1])
    store.summarise("main", user("a to b"), ids[2])
    told = opened().load("main")
    assert [row.message.text for row in told] == ["a to b", "c", "d"]
    assert told[0].id == ""
    assert [row.message.text for row in store.rows("main")] == list("abcd")
    assert [message.text for _, message in store.read()] == list("abcd")


def test_the_harness_reads_digests_and_inbound_ids(opened: Opener) -> None:
    store = opened()
    store.accept(Inbound("m1", text="hi"), user("hi"))
    [(row, message)] = opened().read()
    assert (row.digest, row.inbound, message) == (digest(user("hi")), "m1", user("hi"))


def test_another_object_sees_rows_that_were_added_later(opened: Opener) -> None:
    reader, writer = opened(), opened()
    writer.append("main", user("late"))
    assert [message.text for _, message in reader.read()] == ["late"]
    writer.append("main", user("later"))
    assert [message.text for _, message in reader.read()] == ["late", "later"]
    assert reader.read() == writer.read() == opened().read()


def test_a_row_that_somebody_rewrites_is_read_anew(tmp_path: Path) -> None:
    store, other = SqliteStore(tmp_path / "s.db"), sqlite3.connect(tmp_path / "s.db")
    store.append("main", user("before"))
    assert [message.text for _, message in store.read()] == ["before"]
    with other:
        other.execute("UPDATE rows SET message = replace(message, 'before', 'after')")
    assert [message.text for _, message in store.read()] == ["after"]
    other.close()


def test_threads_lose_nothing(opened: Opener) -> None:
    store = opened()
    threads = [
        threading.Thread(target=lambda n=n: store.append("main", user(str(n)))) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row.message.text for row in store.load("main")) == sorted(map(str, range(8)))


def test_a_failed_write_leaves_nothing_behind(opened: Opener) -> None:
    store = opened()
    inbound = Inbound("m1", text="hi")
    with pytest.raises(UnicodeEncodeError):
        store.accept(inbound, user("half an emoji \ud83d"))
    assert not store.load("main")
    assert store.accept(inbound, user("hi"))


def test_a_torn_last_line_is_cut_and_the_next_row_stands_on_its_own(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    JsonlStore(path).append("main", user("kept"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    store = JsonlStore(path)
    assert [row.message.text for row in store.load("main")] == ["kept"]
    store.append("main", user("next"))
    assert [row.message.text for row in JsonlStore(path).load("main")] == ["kept", "next"]
    assert "torn" in store.notes[0]


@pytest.mark.parametrize("damage", [b"\x00\x00\x00", b"{not json", b'{"fact":"unheard"}', b"\xff"])
def test_damage_in_the_middle_is_named_not_hidden(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "session.jsonl"
    JsonlStore(path).append("main", user("a"))
    path.write_bytes(path.read_bytes() + damage + b"\n")
    store = JsonlStore(path)
    store.append("main", user("b"))
    assert [row.message.text for row in store.load("main")] == ["a", "b"]
    assert len(store.notes) == 1
    assert "line 2" in store.notes[0]
