"""Messages in, replies out: once, in order, over failures and restarts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.agent import agent, build
from harness.agent.gateway import Gateway
from harness.agent.outcome import AGAIN, TAKEN
from harness.core.brief import ToolError
from harness.core.calls import Inbound
from harness.core.messages import ToolResult, ToolUse, assistant, results, user
from harness.stores.jsonl import JsonlStore
from harness.stores.rows import SessionStore
from harness.stores.sqlite import SqliteStore
from tests.agent.stand import Stand, error, text, use


class Killed(BaseException):
    """The process ends here."""


def again(ran: Stand, *replies: Any, inbox: tuple[Inbound, ...] = ()) -> Stand:
    """The same store after a restart."""
    back = Stand(ran.session_dir, replies or [text("back")], *inbox)
    back.tools = ran.tools
    return back


def test_each_message_gets_its_reply_and_the_history_grows(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [text("one"), text("two")], "a", "b").run()
    assert [(s["to"], s["text"]) for s in ran.said] == [("m1", "one"), ("m2", "two")]
    assert [m["role"] for m in ran.provider.requests[1]["messages"]] == [
        "user",
        "assistant",
        "user",
    ]
    assert ran.rows() == [user("a"), assistant("one"), user("b"), assistant("two")]
    assert [row.inbound for row in ran.store.rows("main")] == ["m1", "", "m2", ""]


def test_a_history_with_a_violation_answers_five_normal_turns(tmp_path: Path) -> None:
    said = [text(f"reply {n}") for n in range(5)]
    ran = Stand(tmp_path, said, *[f"ask {n}" for n in range(5)])
    ran.store.seed("main", [user("lost"), user("question")])
    ran.run()
    assert [s["text"] for s in ran.said] == [f"reply {n}" for n in range(5)]
    assert ran.sides == "uu" + "ua" * 5
    assert ran.rows()[2:] == [
        m for n in range(5) for m in (user(f"ask {n}"), assistant(f"reply {n}"))
    ]


def test_sessions_are_apart(tmp_path: Path) -> None:
    inbox = (Inbound("m1", "left", "a"), Inbound("m1", "right", "b"))
    ran = Stand(tmp_path, [text("x")], *inbox).run()
    assert [s["session"] for s in ran.said] == ["left", "right"]
    assert len(ran.provider.requests[1]["messages"]) == 1
    assert len(ran.rows("left")) == len(ran.rows("right")) == 2


def test_a_redelivered_message_is_left_alone(tmp_path: Path) -> None:
    inbox = (Inbound("m1", text="a"), Inbound("m1", text="a"))
    ran = Stand(tmp_path, [text("x")], *inbox).run()
    assert len(ran.said) == len(ran.provider.requests) == 1
    back = again(ran, inbox=inbox).run()
    assert back.said == []
    assert back.sides == "ua"


@pytest.mark.parametrize("open_store", [SqliteStore, JsonlStore])
def test_a_message_that_another_agent_has_taken_is_told_and_not_touched(
    tmp_path: Path, open_store: Callable[[Path], SessionStore]
) -> None:
    other = open_store(tmp_path / "shared")

    def meanwhile(body: Any) -> Any:
        other.accept(Inbound("m2", text="b"), user("b"))
        return text("x")

    ran = Stand(tmp_path, [meanwhile], Inbound("m1", text="a"), Inbound("m2", text="b"))
    ran.store = open_store(tmp_path / "shared")
    ran.run()
    assert [(s["to"], s["kind"]) for s in ran.said] == [("m1", "final"), ("m2", "error")]
    assert TAKEN in ran.said[1]["text"]
    assert len(ran.provider.requests) == 1
    assert [pending.inbound.id for pending in other.pending()] == ["m2"]


@pytest.mark.parametrize("blank", ["", "  \n\t"])
def test_a_blank_message_is_refused_before_anything_is_stored(tmp_path: Path, blank: str) -> None:
    ran = Stand(tmp_path, [text("x")], blank).run()
    assert ran.ending[:2] == ("error", "failed")
    assert ran.rows() == []
    assert ran.provider.requests == []


def test_a_cancel_between_turns_is_no_message(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [text("x")], Inbound("c1", kind="cancel"), "a").run()
    assert [s["to"] for s in ran.said] == ["m2"]


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


@pytest.mark.parametrize("failure", [error(400, "no"), error(500, "down", "api_error"), text()])
def test_a_failed_turn_leaves_no_unanswered_row(tmp_path: Path, failure: Any) -> None:
    ran = Stand(tmp_path, [failure, failure, text("fine"), text("fine")], "a", "b", "c").run()
    assert ran.sides == "uauaua"
    assert [s["to"] for s in ran.said] == ["m1", "m2", "m3"]
    assert ran.said[-1]["status"] == "ok"


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


@pytest.mark.parametrize("open_store", [SqliteStore, JsonlStore])
def test_every_store_serves(tmp_path: Path, open_store: Callable[[Path], SessionStore]) -> None:
    ran = Stand(tmp_path, [use("look", {"a": 1}), text("x")], "a")
    ran.tool("look", "seen")
    ran.store = open_store(tmp_path / "other")
    assert ran.run().sides == "uaua"


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


def test_a_part_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="'guards'"):
        build(Stand(tmp_path, [text("x")]), gards=())


def test_the_gateway_is_a_part(tmp_path: Path) -> None:
    class Twice(Gateway):
        def deliver(self, inbound: Inbound, outcome: Any) -> None:
            """Deliver, and deliver."""
            super().deliver(inbound, outcome)
            super().deliver(inbound, outcome)

    assert len(Stand(tmp_path, [text("x")], "a").run(gateway=Twice).said) == 2


_PAST = st.lists(
    st.sampled_from(
        [
            user("said"),
            user("  "),
            assistant("answered"),
            assistant(),
            assistant(ToolUse("t1", "look", {})),
            results(ToolResult("t1", "seen")),
            results(ToolResult("t9", "orphan")),
        ]
    ),
    max_size=6,
)
_TURN = st.sampled_from(["say", "use", "empty", "blank", "refuse", "fail", "cut", "raise", "many"])


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(_PAST, st.lists(_TURN, min_size=1, max_size=5), st.booleans())
def test_any_session_keeps_every_message_and_reply_once_in_order(
    tmp_path_factory: pytest.TempPathFactory, past: list[Any], turns: list[str], stream: bool
) -> None:
    replies = {
        "say": [text("fine")],
        "use": [use("look", {"a": 1}), text("seen")],
        "empty": [text(), text()],
        "blank": [text(" "), text("late")],
        "refuse": [text(stop="refusal")],
        "fail": [error(400, "odd")],
        "cut": [use("look", {"a": 1}, stop="max_tokens"), text("short")],
        "raise": [use("burn", {"a": 1}), text("burnt")],
        "many": [use("look", {}, f"call_{1}"), use("look", {"a": 2}, "call_1"), text("both")],
    }
    ran = Stand(
        tmp_path_factory.mktemp("session"),
        [reply for turn in turns for reply in replies[turn]],
        *[f"ask {n}" for n in range(len(turns))],
    )
    ran.options["stream"] = stream
    ran.tool("look", "seen")
    ran.tool("burn", ToolError("it burns"))
    ran.store.seed("main", past)
    ran.run()
    ends = [said for said in ran.said if said["kind"] != "notice"]
    assert [s["to"] for s in ends] == [f"m{n + 1}" for n in range(len(turns))]
    rows = ran.store.rows("main")
    assert [row.message for row in rows[: len(past)]] == past
    new = rows[len(past) :]
    assert [row.inbound for row in new if row.inbound] == [s["to"] for s in ends]
    starts = [i for i, row in enumerate(new) if row.inbound] + [len(new)]
    for turn, said in enumerate(ends):
        own = new[starts[turn] : starts[turn + 1]]
        assert own[0].message == user(f"ask {turn}")
        assert own[-1].message.text == said["text"]
        assert "".join(row.message.role[0] for row in own) == "ua" * (len(own) // 2)
