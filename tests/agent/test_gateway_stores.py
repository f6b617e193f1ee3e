"""What is stored before what is sent, in every store, and what is said when storing fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.stores.jsonl import JsonlStore
from harness.stores.session_store import SessionStore
from harness.stores.sqlite import SqliteStore
from tests.agent.replies import text, use
from tests.agent.stand import Stand


def test_the_message_is_stored_before_the_first_request(tmp_path: Path) -> None:
    seen: list[str] = []

    def look(body: Any) -> Any:
        seen.append("".join(m.role[0] for _, m in SqliteStore(tmp_path / "store.db").read()))
        return text("x") if len(seen) > 1 else use("look", {"a": 1})

    ran = Stand(tmp_path, [look], "a")
    ran.tool("look", lambda _: seen.append(ran.sides) or "ok")
    ran.run()
    assert seen == ["u", "ua", "uau"]


def test_the_reply_is_stored_before_it_is_delivered(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [text("x")], "a")
    stored: list[str] = []
    send = ran.send
    ran.send = lambda *a, **k: (stored.append(ran.sides), send(*a, **k))[1]  # type: ignore[method-assign]
    ran.run()
    assert stored == ["ua"]


class FailingStore(SqliteStore):
    """A store whose named method fails."""

    broken = ""

    def _fail(self, name: str) -> None:
        if self.broken == name:
            raise OSError(28, "No space left on device")

    def accept(self, *args: Any) -> bool:
        """Store, or fail."""
        self._fail("accept")
        return super().accept(*args)

    def append(self, *args: Any) -> str:
        """Store, or fail."""
        self._fail("append")
        return super().append(*args)

    def reply(self, *args: Any) -> str:
        """Store, or fail."""
        self._fail("reply")
        return super().reply(*args)


@pytest.mark.parametrize("broken", ["accept", "append", "reply"])
def test_a_full_disk_is_said_and_the_next_message_works(tmp_path: Path, broken: str) -> None:
    ran = Stand(tmp_path, [use("look", {"a": 1}), text("x")], "a", "b")
    ran.tool("look", "seen")
    ran.store = store = FailingStore(tmp_path / "failing.db")
    store.broken = broken
    send = ran.send

    def heal(*args: Any, **kwargs: Any) -> None:
        send(*args, **kwargs)
        store.broken = ""

    ran.send = heal  # type: ignore[method-assign]
    ran.run()
    assert (ran.said[0]["to"], ran.said[0]["status"]) == ("m1", "failed")
    assert "space" in ran.said[0]["text"]
    assert ran.said[-1]["to"] == "m2"


@pytest.mark.parametrize("open_store", [SqliteStore, JsonlStore])
def test_every_store_serves(tmp_path: Path, open_store: Callable[[Path], SessionStore]) -> None:
    ran = Stand(tmp_path, [use("look", {"a": 1}), text("x")], "a")
    ran.tool("look", "seen")
    ran.store = open_store(tmp_path / "other")
    assert ran.run().sides == "uaua"
