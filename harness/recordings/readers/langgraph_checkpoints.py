"""Threads of LangGraph, as its SQLite saver keeps them: the state of each thread, step for step.

A checkpoint holds the whole state, so the last one of a thread says all that the graph still has:
messages that a node removed are gone. An object stands as an extension of MessagePack: the names of
its module and its class, and the values to build it from, which are read as values. Source:
langgraph-checkpoint 4.3, serde/jsonplus.py.
"""

from __future__ import annotations

from collections import deque
from itertools import groupby

import msgspec

from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import decode, encode
from harness.recordings.chat_messages import transcript_of
from harness.recordings.session_log import MAX_KEPT_BYTES
from harness.recordings.tables import Row, Tables, has, named, sessions
from harness.recordings.transcripts import Recording, Refusal, Transcript

_CHECKPOINT = ("thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint")

_VALUES = 2
"""Where the values of an object stand, behind the names of its module and its class."""

_SNAPSHOT = 7
"""The extension that holds a value alone."""


_BEHIND = f"behind {MAX_KEPT_BYTES // 1024**2} MB of other threads"


def langgraph_checkpoints(tables: Tables) -> Recording | None:
    """thread of LangGraph's checkpoints, of a graph and of each graph in it.

    Raises InputError when no state holds messages.
    """
    if not has(tables, "checkpoints", *_CHECKPOINT):
        return None
    rows = tables.rows("checkpoints", _CHECKPOINT, _CHECKPOINT[:3])
    size_bytes = 0
    found: list[Transcript | Refusal] = []
    for name, held in groupby(rows, _name):
        (last,) = deque(held, maxlen=1)
        state = last["checkpoint"]
        size_bytes += len(state) if isinstance(state, (bytes, str)) else 0
        is_over = size_bytes > MAX_KEPT_BYTES
        found.append(Refusal(name, _BEHIND) if is_over else _thread(name, last))
    return sessions(found)


def _name(row: Row) -> str:
    return "/".join(str(row[name]) for name in _CHECKPOINT[:2] if row[name] not in ("", None))


def _thread(name: str, row: Row) -> Transcript | Refusal:
    if row["type"] not in ("msgpack", "json"):
        return Refusal(name, "its state is neither MessagePack nor JSON", str(row["type"]))
    try:
        state = _state(row["type"], row["checkpoint"])
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError, OverflowError):
        return Refusal(name, "its state cannot be read")
    found = transcript_of(name, f.mapping(f.mapping(state).get("channel_values")))
    return named(name, found, "" if row["checkpoint_ns"] else str(row["thread_id"]))


def _state(kind: str, data: bytes) -> Json:
    if kind == "json":
        return decode(data)
    # By way of JSON, so that bytes and times are texts, as every reader of messages expects.
    return decode(encode(msgspec.msgpack.decode(data, ext_hook=_extension)))


def _extension(code: int, data: memoryview) -> object:
    value = msgspec.msgpack.decode(data, ext_hook=_extension)
    is_object = code != _SNAPSHOT and isinstance(value, list) and len(value) > _VALUES
    return value[_VALUES] if is_object else value
