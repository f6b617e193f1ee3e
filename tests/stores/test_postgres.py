"""What only a server can do to a store: break the connection, serve many, hold other schemas."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.agent import agent
from harness.core.history.events import Started, Stored
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values.calls import Inbound
from harness.core.values.errors import InputError
from harness.core.values.messages import user
from harness.runner import run
from harness.stores.opening import open_reader, open_store

psycopg = pytest.importorskip("psycopg", reason="needs the extra postgres", exc_type=ImportError)

from harness.stores.postgres import PostgresStore  # noqa: E402

pytestmark = pytest.mark.real

HELLO = Scenario(name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello."),))

Opener = Callable[[], PostgresStore]


@pytest.fixture
def opened(postgres_dsn: str, tmp_path: Path) -> Iterator[Opener]:
    made: list[PostgresStore] = []

    def opener() -> PostgresStore:
        made.append(PostgresStore(postgres_dsn, schema=tmp_path.name))
        return made[-1]

    yield opener
    for store in made:
        store.close()


def _break(store: PostgresStore, dsn: str) -> None:
    """End the store's connection from the server's side."""
    [(pid,)] = store._ask("SELECT pg_backend_pid()")
    with psycopg.connect(dsn) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


def test_the_call_that_meets_a_broken_connection_raises_and_the_next_one_works(
    opened: Opener, postgres_dsn: str
) -> None:
    store = opened()
    store.append("main", user("before"))
    _break(store, postgres_dsn)
    with pytest.raises(psycopg.OperationalError):
        store.append("main", user("lost"))
    store.append("main", user("after"))
    assert [row.message.text for row in opened().load("main")] == ["before", "after"]


def test_two_gateways_take_a_message_in_once(opened: Opener) -> None:
    stores = [opened() for _ in range(4)]
    taken: list[bool] = []
    inbound = Inbound("m1", text="hi")
    threads = [
        threading.Thread(target=lambda s=s: taken.append(s.accept(inbound, user("hi"))))
        for s in stores
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [False, False, False, True]
    assert len(stores[0].rows("main")) == 1


def test_a_commit_is_on_disk_whatever_the_servers_default_is(
    opened: Opener, postgres_dsn: str
) -> None:
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        db.execute("ALTER ROLE harness SET synchronous_commit = off")
    try:
        assert opened()._ask("SHOW synchronous_commit") == [("on",)]
    finally:
        with psycopg.connect(postgres_dsn, autocommit=True) as db:
            db.execute("ALTER ROLE harness RESET synchronous_commit")
    assert opened()._ask("SHOW fsync") == [("on",)]


def test_an_id_that_the_server_cannot_hold_is_refused_and_nothing_is_written(
    opened: Opener,
) -> None:
    store = opened()
    with pytest.raises(psycopg.DataError):
        store.accept(Inbound("m\x00", text="hi"), user("hi"))
    assert store.read() == []
    assert store.accept(Inbound("m1", text="hi"), user("hi"))


def test_a_store_among_other_tables_is_not_dropped(postgres_dsn: str, opened: Opener) -> None:
    store = opened()
    store.append("main", user("a"))
    store.drop()
    assert opened().read() == []
    plain = PostgresStore(postgres_dsn)
    with pytest.raises(ValueError, match="its own schema"):
        plain.drop()
    plain.close()


def test_an_agent_keeps_its_session_there_and_leaves_nothing_behind(postgres_dsn: str) -> None:
    result = run(HELLO, agent, options={"store": "postgres", "dsn": postgres_dsn})
    assert result.verdict.verdict == "pass"
    looks = [e for e in result.history.events if isinstance(e, Stored)]
    assert {look.store for look in looks} == {"postgres"}
    assert sum(len(look.added) for look in looks) == 2
    assert isinstance(result.history.events[0], Started)
    with psycopg.connect(postgres_dsn) as db:
        left = db.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'loop-harness-%'")
        assert left.fetchall() == []


def test_the_harness_reads_a_foreign_agents_tables(postgres_dsn: str, tmp_path: Path) -> None:
    reader = open_reader(f"postgres:{postgres_dsn}", tmp_path)
    before = len(reader.read())
    PostgresStore(postgres_dsn).append("main", user("there"))
    assert [message.text for _, message in reader.read()[before:]] == ["there"]


def test_without_a_dsn_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dsn"):
        open_store({"store": "postgres"}, tmp_path)
    with pytest.raises(InputError, match="postgres"):
        open_store({"store": "postgre"}, tmp_path)
