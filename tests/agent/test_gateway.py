"""Messages in, replies out: once, in order, across failures, for any stored session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import ECHO, TAKEN
from harness.core.values.brief import ToolError
from harness.core.values.calls import Inbound
from harness.core.values.messages import ToolResult, ToolUse, assistant, results, user
from harness.stores.jsonl import JsonlStore
from harness.stores.session_store import SessionStore
from harness.stores.sqlite import SqliteStore
from tests.agent.replies import error, text, use
from tests.agent.stand import Stand


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


@pytest.mark.parametrize("failure", [error(400, "no"), error(500, "down", "api_error"), text()])
def test_a_failed_turn_leaves_no_unanswered_row(tmp_path: Path, failure: Any) -> None:
    ran = Stand(tmp_path, [failure, failure, text("fine"), text("fine")], "a", "b", "c").run()
    assert ran.sides == "uauaua"
    assert [s["to"] for s in ran.said] == ["m1", "m2", "m3"]
    assert ran.said[-1]["status"] == "ok"


def test_its_own_words_are_answered_three_times_and_then_only_named(tmp_path: Path) -> None:
    hello = "Hello! What can I do for you?"
    ran = Stand(tmp_path, [text(hello)] * 9, "hi", *[hello] * 4, "And now?").run()
    assert [s["text"] for s in ran.said] == [*[hello] * 4, f"{ECHO} (own_words)", hello]
    assert len(ran.provider.requests) == 5


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


@pytest.mark.real
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
