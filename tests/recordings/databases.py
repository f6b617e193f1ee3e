"""Databases of programs in memory, as the programs lay them out, for the tests of their readers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

import msgspec

from harness.recordings import Recording, formats
from harness.stores.plain_tables import tables_in

Rows = Mapping[str, Iterable[Mapping[str, Any]]]
"""Rows by the names of their tables; the first row of a table has all its columns."""


def database(rows: Rows) -> bytes:
    """The bytes of a database with these tables."""
    with closing(sqlite3.connect(":memory:")) as db:
        for table, held in rows.items():
            _fill(db, table, list(held))
        db.commit()
        return db.serialize()


def _fill(db: sqlite3.Connection, table: str, rows: list[Mapping[str, Any]]) -> None:
    db.execute(f"CREATE TABLE {table} ({', '.join(rows[0])})")
    for row in rows:
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", (*row.values(),))


def recorded(name: str, document: bytes) -> Recording | None:
    """What a format reads in the bytes of a database."""
    with tables_in(document) as tables:
        return formats()[name].read_tables(tables)


def message(value: Mapping[str, Any]) -> msgspec.msgpack.Ext:
    """A message of LangChain as LangGraph packs it: its module, its class, its values."""
    packed = ["langchain_core.messages", "Message", value, "model_validate_json"]
    return msgspec.msgpack.Ext(5, msgspec.msgpack.encode(packed))


def checkpoint(thread: str, at: str, state: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A row of LangGraph's checkpoints."""
    packed = msgspec.msgpack.encode({"v": 4, "channel_values": state})
    row = {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": at, "type": "msgpack"}
    return {**row, "checkpoint": packed, **more}


CALL = {"name": "ls", "args": {"path": "."}, "id": "c1", "type": "tool_call"}
TURN = (
    message({"type": "human", "content": "go"}),
    message({"type": "ai", "content": "I look.", "tool_calls": [CALL]}),
    message({"type": "tool", "content": "no", "tool_call_id": "c1", "status": "error"}),
    message({"type": "ai", "content": [{"type": "text", "text": "done"}]}),
)
LANGGRAPH = {
    "checkpoints": [
        checkpoint("t1", "1", {"messages": TURN[:1]}),
        checkpoint("t1", "2", {"messages": TURN, "n": 3}),
    ]
}

_ITEMS: list[Any] = [
    {"role": "user", "content": "go"},
    {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": '{"path": "."}'},
    {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    },
]
AGENTS = {
    "agent_sessions": [{"session_id": "s1"}],
    "agent_messages": [
        {"id": n, "session_id": "s1", "message_data": json.dumps(item)}
        for n, item in enumerate(_ITEMS)
    ],
}


def _event(n: int, role: str, *parts: Any) -> dict[str, Any]:
    data = {"author": role, "content": {"role": role, "parts": parts}}
    about = {"id": f"e{n}", "app_name": "a", "user_id": "u", "session_id": "s1", "timestamp": n}
    return {**about, "event_data": json.dumps(data)}


_ASKED = {"function_call": {"id": "c1", "name": "ls", "args": {"path": "."}}}
_TOLD = {"function_response": {"id": "c1", "name": "ls", "response": {"result": "a.py"}}}
ADK = {
    "events": [
        _event(1, "user", {"text": "go"}),
        _event(2, "model", _ASKED),
        _event(3, "user", _TOLD),
        _event(4, "model", {"text": "done"}),
    ]
}

_FUNCTION = {"name": "ls", "arguments": '{"path": "."}'}
_FAILED = {"role": "tool", "tool_call_id": "c1", "content": "no", "tool_call_error": True}
_RUN: list[Any] = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "go"},
    {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": _FUNCTION}]},
    _FAILED,
    {"role": "assistant", "content": "done"},
]
AGNO_RUNS: list[Any] = [
    {"messages": _RUN},
    {
        "messages": [
            _RUN[0],
            *({**said, "from_history": True} for said in _RUN[1:]),
            {"role": "user", "content": "thanks"},
        ]
    },
]
AGNO = {
    "agno_runs": [
        {"session_id": "s1", "run_index": n, "run_data": json.dumps(run)}
        for n, run in enumerate(AGNO_RUNS)
    ]
}

_OPENCODE_CALL = {
    "type": "tool",
    "tool": "ls",
    "callID": "c1",
    "state": {"status": "completed", "input": {"path": "."}, "output": "a.py"},
}


def _said(n: int, role: str, session: str = "ses_1") -> dict[str, Any]:
    data = json.dumps({"role": role, "modelID": "m"})
    return {"id": f"msg_{n}", "session_id": session, "time_created": n, "data": data}


def _part(n: int, message_n: int, value: Any, session: str = "ses_1") -> dict[str, Any]:
    row = {"id": f"prt_{n}", "message_id": f"msg_{message_n}", "session_id": session}
    return {**row, "data": json.dumps(value)}


OPENCODE: dict[str, list[dict[str, Any]]] = {
    "session": [
        {"id": "ses_1", "directory": "/work/shop", "time_created": 1_000, "time_updated": 2_000},
        {"id": "ses_2", "directory": "/work/mail", "time_created": 3_000, "time_updated": 90_000},
    ],
    "message": [_said(2, "assistant"), _said(1, "user"), _said(3, "user", "ses_2")],
    "part": [
        _part(1, 1, {"type": "text", "text": "go"}),
        _part(2, 2, _OPENCODE_CALL),
        _part(3, 2, {"type": "step-start"}),
        _part(4, 2, {"type": "text", "text": "done"}),
        _part(5, 3, {"type": "text", "text": "hi"}, "ses_2"),
    ],
}

HERMES = {
    "sessions": [{"id": "s1", "model": "m", "system_prompt": "be kind"}],
    "messages": [
        {"id": 1, "session_id": "s1", "role": "user", "content": "go", "tool_calls": None},
        {"id": 2, "session_id": "s1", "role": "assistant", "content": "done"},
    ],
}

SAMPLES = {
    "adk_sessions": [ADK],
    "agents_sessions": [AGENTS],
    "agno_sessions": [AGNO],
    "hermes": [HERMES],
    "langgraph_checkpoints": [LANGGRAPH],
    "opencode_database": [OPENCODE],
}
"""By the name of the format."""
