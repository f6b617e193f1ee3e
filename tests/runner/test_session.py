"""The stored session: what is there at first, and what is seen to change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from harness.core.history.events import Stored, StoredRow
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario, SeedMessage, Session
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, ToolUse, assistant, digest, user
from harness.runner.session import StoreWatch, lay_seed, open_reader, seed_messages


class _Rows:
    """A store whose rows a test sets."""

    name = "rows"

    def __init__(self) -> None:
        self.rows: list[tuple[str, Message]] = []

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """The rows as they are."""
        return [(StoredRow(name, digest(m)), m) for name, m in self.rows]


def _stored(history: History) -> list[Stored]:
    return [e for e in history.events if isinstance(e, Stored)]


def test_an_event_holds_what_is_new_changed_or_gone() -> None:
    store, history = _Rows(), History()
    watch = StoreWatch(store, history)
    store.rows = [("1", user("a")), ("2", assistant("b"))]
    watch.look(10)
    store.rows = [("1", user("a")), ("2", assistant("b, and more")), ("3", user("c"))]
    watch.look(20)
    store.rows = [("2", assistant("b, and more")), ("3", user("c"))]
    watch.look(30)
    first, second, third = _stored(history)
    assert [row.id for row in first.added] == ["1", "2"]
    assert ([r.id for r in second.added], [r.id for r in second.changed]) == (["3"], ["2"])
    assert (third.gone, third.added, third.at_ms) == (("1",), (), 30)


def test_the_first_look_is_recorded_and_an_unchanged_store_is_not() -> None:
    store, history = _Rows(), History()
    watch = StoreWatch(store, history)
    watch.look(0)
    watch.look(1)
    assert [e.added for e in _stored(history)] == [()]


def _scenario(session: Session, folder: Path | str = "") -> Scenario:
    return Scenario(name="x", session=session, folder=str(folder))


def test_messages_of_a_scenario_are_text_or_blocks() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    session = Session(
        messages=(
            SeedMessage(role="user", content="hello"),
            SeedMessage(role="assistant", content=(use,)),
            SeedMessage(role="user", content=""),
        )
    )
    hello, called, empty = seed_messages(_scenario(session))
    assert hello == user("hello")
    assert called == assistant(ToolUse("t1", "f", {"a": 1}))
    assert empty == Message("user")


def test_a_session_file_is_read_from_the_scenario_s_folder(tmp_path: Path) -> None:
    messages = [user("one"), assistant("two")]
    lines = b"".join(msgspec.json.encode(m) + b"\n" for m in messages)
    (tmp_path / "session.jsonl").write_bytes(lines)
    session = Session(format="jsonl", file="session.jsonl")
    assert seed_messages(_scenario(session, tmp_path)) == messages


@pytest.mark.parametrize(
    ("content", "says"), [(None, "cannot be read"), (b'{"role": 1}\n', "no message")]
)
def test_a_bad_session_file_is_an_error_with_its_place(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    if content is not None:
        (tmp_path / "s.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        seed_messages(_scenario(Session(format="jsonl", file="s.jsonl"), tmp_path))
    assert "s.jsonl" in str(caught.value)


def test_the_seed_is_laid_as_lines(tmp_path: Path) -> None:
    lay_seed(tmp_path, [user("one")])
    assert msgspec.json.decode((tmp_path / "seed.jsonl").read_bytes()) == {
        "role": "user",
        "blocks": [{"type": "text", "text": "one"}],
    }
    (tmp_path / "none").mkdir()
    lay_seed(tmp_path / "none", [])
    assert list((tmp_path / "none").iterdir()) == []


@pytest.mark.parametrize("spec", ["sqlit:x.db", "x.db", "jsonl:"])
def test_an_unknown_reader_is_an_error(tmp_path: Path, spec: str) -> None:
    with pytest.raises(InputError, match="READER:PATH"):
        open_reader(spec, tmp_path)
