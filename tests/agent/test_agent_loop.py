"""One turn on the real SDK, streamed and not: answers, tools, and a turn that is cancelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.values.messages import ToolResult, assistant, user
from tests.agent.one_turn import stand
from tests.agent.replies import error, text, use, uses


def test_an_answer_is_stored_and_delivered_once(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, text("hello")).run()
    assert ran.said == [
        {"text": "hello", "kind": "final", "session": "main", "to": "m1", "status": "ok"}
    ]
    assert ran.rows() == [user("hi"), assistant("hello")]
    assert ran.provider.purposes == ["main"]
    assert ran.provider.requests[0].get("stream", False) is stream


def test_a_tool_is_run_and_its_result_sent(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, use("look", {"at": "é"}, "t1"), text("I saw it"))
    ran.tool("look", "a cat")
    ran.run()
    assert ran.calls == [("look", {"at": "é"})]
    result = ran.provider.requests[1]["messages"][-1]["content"]
    assert result == [{"type": "tool_result", "tool_use_id": "t1", "content": "a cat"}]
    assert ran.sides == "uaua"
    assert ran.ending == ("final", "ok", "I saw it")


def test_parallel_calls_run_in_order_and_are_all_answered(tmp_path: Path, stream: bool) -> None:
    batch = uses(("a", "look", {"n": 1}), ("b", "absent", {}), ("c", "look", {"n": 2}))
    ran = stand(tmp_path, stream, batch, text("done"))
    ran.tool("look", lambda given: f"saw {given['n']}")
    ran.run()
    blocks = ran.provider.requests[1]["messages"][-1]["content"]
    assert [(b["tool_use_id"], b.get("is_error", False)) for b in blocks] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]
    assert "look" in blocks[1]["content"]
    assert ran.calls == [("look", {"n": 1}), ("look", {"n": 2})]


def test_two_calls_with_one_id_are_run_once(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, uses(("a", "look", {"n": 1}), ("a", "look", {"n": 1})), text("k"))
    ran.tool("look", "seen")
    assert len(ran.run().calls) == 1


@pytest.mark.parametrize("when", range(8))
def test_a_cancelled_turn_ends_with_a_notice_and_alternates(
    tmp_path: Path, stream: bool, when: int
) -> None:
    ran = stand(tmp_path, stream, uses(("a", "look", {"n": 1}), ("b", "look", {"n": 2})), text("k"))
    ran.tool("look", "seen")
    asked = iter(range(100))
    ran.is_cancelled = lambda: next(asked) >= when
    ran.run()
    if when < 6:
        assert ran.ending[:2] == ("notice", "cancelled")
    else:
        assert ran.ending[:2] == ("final", "ok")
    assert set(ran.sides.split("ua")) == {""}
    assert len([b for m in ran.rows() for b in m.blocks if isinstance(b, ToolResult)]) in (0, 2)


def test_nothing_is_compacted_after_a_cancel(tmp_path: Path, stream: bool) -> None:
    ran = stand(tmp_path, stream, error(400, "prompt is too long"))
    ran.is_cancelled = lambda: bool(ran.provider.requests)
    ran.store.seed("main", [user("a" * 999), assistant("b"), user("c" * 999), assistant("d")])
    assert ran.run().provider.purposes == ["main"]
    assert ran.ending[:2] == ("notice", "cancelled")
