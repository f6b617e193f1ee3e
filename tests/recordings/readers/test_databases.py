"""Databases of programs: their sessions are the messages that the model was shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.recordings import Recording, Transcript, formats
from harness.recordings.readers import opencode
from harness.recordings.recognition import read_tables
from harness.stores.plain_tables import tables_in
from tests.recordings import databases as db

CALL = ToolUse("c1", "ls", {"path": "."})


def _read(rows: db.Rows, name: str = "auto") -> Recording:
    with tables_in(db.database(rows)) as tables:
        return read_tables(tables, "x.db", name)


def _one(rows: db.Rows) -> Transcript:
    (found,) = _read(rows).transcripts
    return found


@pytest.mark.parametrize("name", db.SAMPLES)
def test_a_database_is_of_one_format_alone(name: str) -> None:
    for rows in db.SAMPLES[name]:
        document = db.database(rows)
        assert [n for n in formats() if db.recorded(n, document)] == [name]
        assert _read(rows) == _read(rows, name)


def test_each_format_of_databases_has_a_sample() -> None:
    assert {name for name, kind in formats().items() if kind.by_tables} == set(db.SAMPLES)


@pytest.mark.parametrize(
    ("rows", "name", "result"),
    [
        (db.LANGGRAPH, "t1", ToolResult("c1", "no", is_error=True)),
        (db.AGENTS, "s1", ToolResult("c1", "a.py")),
        (db.ADK, "a/u/s1", ToolResult("c1", "a.py")),
    ],
)
def test_a_turn_is_read_with_its_call_and_its_result(
    rows: db.Rows, name: str, result: ToolResult
) -> None:
    found = _one(rows)
    assert found.name == name
    assert [side.text for side in found.messages] == ["go", found.messages[1].text, "", "done"]
    assert found.messages[1].tool_uses == (CALL,)
    assert found.messages[2].tool_results == (result,)


def test_the_last_state_of_a_thread_counts_and_each_graph_in_it_is_apart() -> None:
    rows = [
        *db.LANGGRAPH["checkpoints"],
        db.checkpoint("t1", "3", {"messages": db.TURN[:1]}, checkpoint_ns="child:1"),
        db.checkpoint("t2", "1", {"messages": db.TURN[:2]}),
    ]
    found = _read({"checkpoints": rows}).transcripts
    assert {one.name: len(one.messages) for one in found} == {"t1": 4, "t1/child:1": 1, "t2": 2}


def test_values_that_json_cannot_say_do_no_harm() -> None:
    nested: Any = db.message({"type": "human", "content": "x", "raw": b"\x00\xff", 3: {1: "a"}})
    found = _one({"checkpoints": [db.checkpoint("t", "1", {"messages": [nested]})]})
    assert found.messages[0].text == "x"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"type": "msgpack+aes"}, "neither MessagePack nor JSON: msgpack\\+aes"),
        ({"checkpoint": b"\xc1"}, "cannot be read"),
        ({"checkpoint": None}, "cannot be read"),
        ({"checkpoint": msgspec.msgpack.encode({"channel_values": 7})}, "no message"),
        ({"type": "json", "checkpoint": "{"}, "cannot be read"),
    ],
)
def test_a_state_that_cannot_be_read_is_refused_and_the_other_threads_are_not(
    more: Mapping[str, Any], reason: str
) -> None:
    bad = db.checkpoint("t0", "1", {}, **more)
    with pytest.raises(InputError, match=reason):
        _read({"checkpoints": [bad]})
    found = _read({"checkpoints": [bad, *db.LANGGRAPH["checkpoints"]]})
    assert [one.name for one in found.transcripts] == ["t1"]
    assert [one.place for one in found.refusals] == ["t0"]


def test_a_state_in_json_is_read_too() -> None:
    state = {"channel_values": {"messages": [{"type": "human", "content": "go"}]}}
    row = db.checkpoint("t1", "1", {}, type="json", checkpoint=json.dumps(state))
    assert _one({"checkpoints": [row]}).messages[0].text == "go"


def test_a_run_of_agno_adds_what_it_did_not_repeat() -> None:
    found = _one(db.AGNO)
    texts = ["be kind", "go", "", "", "done", "thanks"]
    assert [said.text for said in found.messages] == texts
    assert found.messages[3].tool_results == (ToolResult("c1", "no", is_error=True),)


@pytest.mark.parametrize("dumps", [json.dumps, lambda runs: json.dumps(json.dumps(runs))])
def test_agno_2_keeps_the_runs_in_the_row_of_the_session(dumps: Any) -> None:
    rows = [{"session_id": "s1", "runs": dumps(db.AGNO_RUNS)}]
    assert _one({"agno_sessions": rows}) == _one(db.AGNO)


def test_sessions_of_opencode_say_where_and_when_they_were() -> None:
    first, second = _read(db.OPENCODE).transcripts
    assert [said.blocks for said in first.messages] == [
        (Text("go"),),
        (CALL,),
        (ToolResult("c1", "a.py"),),
        (Text("done"),),
    ]
    assert (first.name, first.place, first.begun_s, first.changed_s) == (
        "ses_1",
        "/work/shop",
        1.0,
        2.0,
    )
    assert (second.name, second.model, second.changed_s) == ("ses_2", "", 90.0)


def test_a_session_of_opencode_that_fits_no_more_is_refused_and_newer_ones_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = (*db.OPENCODE["message"], *db.OPENCODE["part"])
    fits = sum(len(row["data"]) for row in rows if row["session_id"] == "ses_1")
    monkeypatch.setattr(opencode, "MAX_KEPT_BYTES", fits)
    found = _read(db.OPENCODE)
    assert [one.name for one in found.transcripts] == ["ses_1"]
    assert [(one.place, one.reason.split()[0]) for one in found.refusals] == [("ses_2", "more")]


@pytest.mark.parametrize("name", db.SAMPLES)
def test_values_of_any_type_are_read_or_refused_in_words(name: str) -> None:
    for rows in db.SAMPLES[name]:
        for odd in (None, 7, b"\xff", "", "{", "[]", '{"role": 3, "content": {}}'):
            changed = {
                table: [dict.fromkeys(row, odd) for row in held] for table, held in rows.items()
            }
            with suppress(InputError):
                assert all(one.messages for one in _read(changed).transcripts)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ({"messages": [{"id": 1, "parts": "[]"}]}, "looks like Crush"),
        ({"messages": [{"id": 1, "content_json": "[]"}]}, "looks like goose"),
        ({"threads": [{"rollout_path": "x"}]}, "read the rollouts"),
        ({"notes": [{"id": 1}]}, "a SQLite database that no format reads"),
    ],
)
def test_another_database_is_refused_by_its_name(rows: db.Rows, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        _read(rows)
    with pytest.raises(InputError, match=r"x\.db"):
        _read(rows, "hermes")
