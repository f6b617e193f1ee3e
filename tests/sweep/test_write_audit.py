"""What a store owes after a kill."""

from __future__ import annotations

from harness.core.history.events import StoredRow
from harness.core.values.calls import Inbound
from harness.core.values.messages import (
    Message,
    ToolResult,
    ToolUse,
    assistant,
    digest,
    results,
    user,
)
from tests.sweep.write_audit import Acknowledged, WriteAudit, audit_writes


def _rows(*messages: Message) -> list[tuple[StoredRow, Message]]:
    return [(StoredRow(str(n), digest(m)), m) for n, m in enumerate(messages, start=1)]


def _append(message: Message, row_id: str) -> Acknowledged:
    said = Acknowledged.of("append", ("main", message), row_id)
    assert said is not None
    return said


def test_what_is_there_is_neither_lost_nor_double() -> None:
    said = [_append(user("a"), "1"), _append(assistant("b"), "2")]
    assert audit_writes(said, _rows(user("a"), assistant("b"))) == WriteAudit(2)


def test_a_row_is_lost_when_it_is_gone_and_when_another_has_its_id() -> None:
    said = [_append(user("a"), "1"), _append(assistant("b"), "2")]
    assert audit_writes(said, _rows(user("a"), assistant("other"))).lost == ("the row 2",)
    assert audit_writes(said, _rows(user("a"))).lost == ("the row 2",)


def test_an_inbound_message_is_known_by_its_id() -> None:
    said = Acknowledged.of("accept", (Inbound("m1", text="hi"), user("hi")), True)
    assert said is not None
    row = (StoredRow("7", digest(user("hi")), "m1"), user("hi"))
    assert audit_writes([said], [row]).lost == ()
    assert audit_writes([said], []).lost == ("the inbound message m1",)
    assert audit_writes([said], [row, row]).twice == ("the inbound message m1",)


def test_a_call_and_its_result_are_there_once() -> None:
    call, result = assistant(ToolUse("t1", "look")), results(ToolResult("t1", "seen"))
    assert audit_writes([], _rows(call, result)).twice == ()
    doubled = audit_writes([], _rows(call, result, call, result)).twice
    assert doubled == ("the call t1", "the result of t1")


def test_writes_without_a_row_acknowledge_none() -> None:
    inbound = Inbound("m1")
    assert Acknowledged.of("accept", (inbound, user("hi")), False) is None
    assert Acknowledged.of("delivered", (inbound,), None) is None
    assert Acknowledged.of("begin", (inbound,), 2) is None
