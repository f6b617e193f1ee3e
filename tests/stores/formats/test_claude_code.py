"""Claude Code's log as a store: rows of what was said, while the log is being written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.core.values.messages import Message
from harness.stores.formats.claude_code import ClaudeCodeStore


def _line(uuid: str, role: str, content: Any, message: str = "", **more: Any) -> bytes:
    said = {"role": role, "content": content, **({"id": message} if message else {})}
    entry = {"type": role, "uuid": uuid, "sessionId": "s", "message": said, **more}
    return json.dumps(entry).encode() + b"\n"


def _use(uuid: str, call: str) -> bytes:
    block = {"type": "tool_use", "id": call, "name": "ls", "input": {}}
    return _line(uuid, "assistant", [block], "m1")


def _result(uuid: str, call: str) -> bytes:
    return _line(uuid, "user", [{"type": "tool_result", "tool_use_id": call, "content": "x"}])


GO = _line("u1", "user", "go")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The place of a log that is not there yet."""
    return tmp_path / "s.jsonl"


def _append(log: Path, *lines: bytes) -> None:
    with open(log, "ab") as file:
        file.write(b"".join(lines))


def _rows(store: ClaudeCodeStore) -> list[tuple[str, str, int]]:
    return [(row.id, message.role, len(message.blocks)) for row, message in store.read()]


def test_rows_are_the_messages_and_grow_with_the_log(log: Path) -> None:
    store = ClaudeCodeStore(log)
    assert store.read() == []
    _append(log, GO, _use("a1", "c1"))
    assert _rows(store) == [("u1", "user", 1), ("a1", "assistant", 1)]
    _append(log, _use("a2", "c2"), _line("a3", "assistant", "done", "m2"))
    assert _rows(store) == [
        ("u1", "user", 1), ("a1", "assistant", 2), ("a3", "assistant", 1),
    ]  # fmt: skip


def test_the_results_of_a_batch_are_told_when_all_are_there(log: Path) -> None:
    store = ClaudeCodeStore(log)
    _append(log, GO, _use("a1", "c1"), _use("a2", "c2"), _result("r1", "c1"))
    assert [name for name, *_ in _rows(store)] == ["u1", "a1"]
    _append(log, _result("r2", "c2"))
    assert _rows(store)[2:] == [("r1", "user", 2)]


def test_a_batch_that_is_given_up_is_told_with_what_follows(log: Path) -> None:
    store = ClaudeCodeStore(log)
    _append(log, GO, _use("a1", "c1"), _use("a2", "c2"), _result("r1", "c1"))
    _append(log, _line("u2", "user", "stop"))
    assert [name for name, *_ in _rows(store)] == ["u1", "a1", "r1", "u2"]


def test_a_torn_line_is_told_once_it_is_whole(log: Path) -> None:
    store = ClaudeCodeStore(log)
    whole = _line("u2", "user", "on")
    _append(log, GO, whole[:20])
    assert [name for name, *_ in _rows(store)] == ["u1"]
    _append(log, whole[20:])
    assert [name for name, *_ in _rows(store)] == ["u1", "u2"]


def test_what_nobody_said_to_this_model_is_no_row(log: Path) -> None:
    store = ClaudeCodeStore(log)
    other = [
        b'{"type": "summary", "summary": "x"}\n',
        b"no json\n",
        _line("m1", "user", "caveat", isMeta=True),
        _line("c1", "user", "task", isSidechain=True, agentId="a"),
        _line("b1", "user", None),
    ]
    _append(log, *other, GO)
    assert _rows(store) == [("u1", "user", 1)]


def test_a_file_that_was_replaced_is_read_anew(log: Path) -> None:
    store = ClaudeCodeStore(log)
    _append(log, GO, _line("u2", "user", "on"))
    assert len(store.read()) == 2
    log.write_bytes(_line("u3", "user", "new"))
    assert [name for name, *_ in _rows(store)] == ["u3"]
    part = log.with_name("part")
    part.write_bytes(GO * 3)
    part.rename(log)
    assert len(store.read()) == 3
    log.unlink()
    assert store.read() == []


def test_a_line_without_a_uuid_is_named_by_its_number(log: Path) -> None:
    store = ClaudeCodeStore(log)
    bare = b'{"type": "user", "message": {"role": "user", "content": "go"}}\n'
    _append(log, bare)
    assert [name for name, *_ in _rows(store)] == ["1"]
    _append(log, b"\n", bare)
    assert [name for name, *_ in _rows(store)] == ["1", "3"]


def test_a_folder_is_all_its_logs(tmp_path: Path) -> None:
    store = ClaudeCodeStore(tmp_path)
    assert store.read() == []
    project = tmp_path / "projects" / "-work"
    project.mkdir(parents=True)
    _append(project / "b.jsonl", GO)
    _append(project / "a.jsonl", GO)
    assert [name for name, *_ in _rows(store)] == ["a/u1", "b/u1"]


def test_a_folder_that_is_made_while_it_is_looked_for_has_no_rows_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error ended the request of the program, which came again and was judged as its second."""
    monkeypatch.setattr(Path, "is_dir", lambda path: False)
    assert list(ClaudeCodeStore(tmp_path).read()) == []


def test_half_a_character_is_told_as_it_stands(log: Path) -> None:
    store = ClaudeCodeStore(log)
    _append(log, b'{"type": "user", "message": {"role": "user", "content": "\\ud83d"}}\n')
    ((_, message),) = store.read()
    assert message == Message("user", message.blocks)
    assert message.text == "\ud83d"
