"""A session to begin with, in another agent's file: what its model would be shown next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.core.scenario.scenario import Scenario, Session
from harness.core.values.errors import InputError
from harness.core.values.messages import Message
from harness.runner.session import open_reader, seed_messages
from tests.stores.hermes_database import add, add_turn, create


def _scenario(folder: Path, format: Any, file: str) -> Scenario:
    return Scenario(name="t", folder=str(folder), session=Session(format=format, file=file))


def _log(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def _said(role: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": text, "id": text}
    return {"type": role, "sessionId": "s", "message": message, **more}


def _texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


def test_a_claude_code_session_begins_with_its_last_compaction(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(
        _log(
            _said("user", "task", isSidechain=True),
            _said("user", "go"),
            _said("assistant", "ok"),
            _said("user", "what was", isCompactSummary=True),
            _said("assistant", "on"),
        )
    )
    found = seed_messages(_scenario(tmp_path, "claude_code", "s.jsonl"))
    assert _texts(found) == ["what was", "on"]


def test_a_hermes_session_is_the_active_rows_of_the_last_one(tmp_path: Path) -> None:
    db = create(tmp_path / "state.db")
    add_turn(db)
    db.execute("INSERT INTO sessions (id, source, started_at) VALUES ('s2', 'telegram', 2.0)")
    add(db, "user", "old", session_id="s2", active=0)
    add(db, "user", "what was", session_id="s2")
    db.close()
    found = seed_messages(_scenario(tmp_path, "hermes", "state.db"))
    assert _texts(found) == ["what was"]


@pytest.mark.parametrize("format", ["jsonl", "claude_code", "hermes"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, format: str) -> None:
    scenario = _scenario(tmp_path, format, "x")
    with pytest.raises(InputError, match="cannot be read"):
        seed_messages(scenario)
    (tmp_path / "x").write_text("{}\n{")
    with pytest.raises(InputError, match="x"):
        seed_messages(scenario)


def test_stores_of_other_agents_are_found_below_the_session_folder(tmp_path: Path) -> None:
    db = create(tmp_path / "state.db")
    add_turn(db)
    store = open_reader("hermes:state.db", tmp_path)
    assert (store.name, len(store.read())) == ("hermes", 4)
    db.close()
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "s.jsonl").write_text(_log(_said("user", "go")))
    log = open_reader("claude_code:logs", tmp_path)
    assert [message.text for _, message in log.read()] == ["go"]
    assert log.name == "claude_code"
