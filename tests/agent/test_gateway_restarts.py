"""The process restarts: each message is still answered once, and no call runs twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.agent import agent
from harness.agent.sessions.turn_outcome import AGAIN, LOST
from harness.core.values.calls import Inbound
from harness.core.values.messages import assistant, user
from harness.stores.sqlite import SqliteStore
from tests.agent.replies import text, use
from tests.agent.stand import Stand


class Killed(BaseException):
    """The process ends here."""


def again(ran: Stand, *replies: Any, inbox: tuple[Inbound, ...] = ()) -> Stand:
    """The same store after a restart."""
    back = Stand(ran.session_dir, replies or [text("back")], *inbox)
    back.tools = ran.tools
    return back


def test_a_redelivered_message_is_left_alone(tmp_path: Path) -> None:
    inbox = (Inbound("m1", text="a"), Inbound("m1", text="a"))
    ran = Stand(tmp_path, [text("x")], *inbox).run()
    assert len(ran.said) == len(ran.provider.requests) == 1
    back = again(ran, inbox=inbox).run()
    assert back.said == []
    assert back.sides == "ua"


def killed_at(ran: Stand, times: int) -> Callable[[Any], Any]:
    """A model that ends the process on its nth request."""

    def reply(body: Any) -> Any:
        if len(ran.provider.requests) == times:
            raise Killed
        return use("look", {"n": times})

    return reply


def test_an_interrupted_turn_is_resumed_once_and_then_parked(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [], "a")
    ran.provider.replies = [killed_at(ran, 1)]
    with pytest.raises(Killed):
        ran.run()
    second = again(ran)
    second.provider.replies = [killed_at(second, 1)]
    with pytest.raises(Killed):
        second.run()
    third = again(second).run()
    assert third.provider.requests == []
    assert third.ending[:2] == ("error", "failed")
    assert third.sides == "ua"
    assert again(third).run().said == []


def test_a_call_of_unknown_outcome_is_not_run_again(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [use("pay", {"sum": 1})], "pay")

    def die(_: Any) -> Any:
        raise Killed

    ran.tool("pay", die)
    with pytest.raises(Killed):
        ran.run()
    back = again(ran, text("I do not know whether it was paid.")).run()
    assert len(ran.calls) == 1
    assert back.calls == []
    [result] = back.provider.requests[0]["messages"][-1]["content"]
    assert result["is_error"]
    assert back.ending[1] == "ok"
    assert back.sides == "uaua"


def test_a_reply_that_was_stored_and_not_sent_is_sent_after_a_restart(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [text("hello")], "a")

    def die(*args: Any, **kwargs: Any) -> None:
        raise Killed

    ran.send = die  # type: ignore[method-assign]
    with pytest.raises(Killed):
        ran.run()
    back = again(ran).run()
    assert back.provider.requests == []
    assert back.ending == ("final", "ok", f"{AGAIN}\n\nhello")
    assert again(back).run().said == []


def test_a_turn_whose_conversation_is_gone_asks_nothing_and_tells_so(tmp_path: Path) -> None:
    """A rename that was lost may take all rows, and leave the list of open turns."""
    ran = Stand(tmp_path, [], "pay")
    ran.provider.replies = [killed_at(ran, 1)]
    with pytest.raises(Killed):
        ran.run()
    with sqlite3.connect(tmp_path / "store.db") as stored:
        stored.execute("DELETE FROM rows")
    back = again(ran, inbox=(Inbound("m2", text="Hello?"),)).run()
    ends = [(said["to"], said["kind"]) for said in back.said if said["kind"] != "notice"]
    assert ends == [("m1", "error"), ("m2", "final")]
    assert back.said[0]["text"] == f"{LOST} (lost)"
    assert len(back.provider.requests) == 1


def test_without_a_store_it_opens_its_own_and_takes_the_seed(tmp_path: Path) -> None:
    lines = [msgspec.json.encode(m) for m in (user("before"), assistant("yes"))]
    (tmp_path / "seed.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    ran = Stand(tmp_path, [text("x")], "a")
    ran.store = None
    agent(ran)
    assert len(ran.provider.requests[0]["messages"]) == 3
    own = SqliteStore(tmp_path / "session.db")
    assert [row.message.text for row in own.rows("main")] == ["before", "yes", "a", "x"]
    agent(again(ran))
    assert len(own.rows("main")) == 4


def test_a_turn_that_the_store_does_not_let_it_take_up_is_told_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Stand(tmp_path, [use("look")], "a")
    ran.tool("look", killed_at(ran, 1))
    with pytest.raises(Killed):
        ran.run()
    append, refused = SqliteStore.append, iter([True] * 4)

    def refusing(self: SqliteStore, *row: Any) -> Any:
        if next(refused, False):
            raise OSError("read-only")
        return append(self, *row)

    monkeypatch.setattr(SqliteStore, "append", refusing)
    back = again(ran, text("b is done"), inbox=(Inbound("m2", text="b"),)).run()
    ends = [(said["to"], said["kind"]) for said in back.said if said["kind"] != "notice"]
    assert ends == [("m1", "error"), ("m2", "final")]
