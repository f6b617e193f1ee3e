"""Statements 75, 76, 95, 96: where a transcript may be, both files or none, how far it has come."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.sessions import session_archive
from harness.agent.sessions.jsonl_conversation import messages_of, transcript_of
from harness.agent.sessions.session_archive import (
    Archive,
    Watermark,
    folder_name,
    path_inside,
    rows_after,
    watermark_at_end,
)
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, Thinking, assistant, user
from harness.stores.session_store import SessionRow
from harness.stores.sqlite import SqliteStore
from tests.seeds.transcript_lines import TALK, archive_in, archived, assert_caught


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration with a session file, and files of other kinds."""
    for name in ("config/projects/p", "config/projects2", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("config/projects/p/s.jsonl", "config/projects2/s.jsonl", "elsewhere/s.jsonl"):
        (tmp_path / name).write_bytes(transcript_of(TALK))
    (tmp_path / "config/projects/p/out.jsonl").symlink_to(tmp_path / "elsewhere/s.jsonl")
    (tmp_path / "config/projects/out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "config/projects/p/in.jsonl").symlink_to(tmp_path / "config/projects/p/s.jsonl")
    return tmp_path / "config"


OUTSIDE = [
    "../elsewhere/s.jsonl",
    "projects/../../elsewhere/s.jsonl",
    "projects/p/../../projects2/s.jsonl",
    "projects/p/out.jsonl",
    "projects/out/s.jsonl",
    "projects2/s.jsonl",
    "projects",
]


@pytest.mark.seed(75)
@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_is_refused(config: Path, path: str) -> None:
    assert path_inside(config / path, config) is None


@pytest.mark.seed(75)
def test_a_path_inside_is_allowed_also_by_a_link(config: Path) -> None:
    for name in ("s.jsonl", "in.jsonl", "../p/s.jsonl"):
        real = config / "projects/p/s.jsonl"
        assert path_inside(config / "projects/p" / name, config) == real.resolve()


def _by_prefix(path: Path, config: Path) -> bool:
    """The guard as it was: no separator behind the base."""
    return os.path.realpath(path).startswith(os.path.realpath(config / "projects"))


def _unresolved(path: Path, config: Path) -> bool:
    """A guard that believes what a path says."""
    return str(path).startswith(str(config / "projects") + os.sep)


@pytest.mark.seed(75, kind="mutant")
@pytest.mark.parametrize(
    ("guard", "caught"),
    [(_by_prefix, {2, 5, 6}), (_unresolved, {1, 2, 3, 4})],
    ids=["prefix", "raw"],
)
def test_guards_that_only_compare_texts_let_paths_out(
    config: Path, guard: Callable[[Path, Path], bool], caught: set[int]
) -> None:
    assert {n for n, path in enumerate(OUTSIDE) if guard(config / path, config)} == caught


@pytest.mark.seed(76)
def test_circles_and_links_to_nowhere_are_refused_without_an_exception(config: Path) -> None:
    place = config / "projects" / "p"
    (place / "loop.jsonl").symlink_to(place / "pool.jsonl")
    (place / "pool.jsonl").symlink_to(place / "loop.jsonl")
    (place / "self").symlink_to(place / "self")
    (place / "nowhere.jsonl").symlink_to(place / "gone.jsonl")
    for name in ("loop.jsonl", "self", "nowhere.jsonl", "nul\x00.jsonl"):
        assert path_inside(place / name, config) is None
    assert path_inside(place / "new.jsonl", config) == place / "new.jsonl"


@pytest.mark.seed(75)
def test_a_session_whose_name_leads_out_has_no_place(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    with pytest.raises(PermissionError, match="no place below"):
        archive.paths("../../../elsewhere")
    assert archive.paths("..")[0].name == "...jsonl"
    assert folder_name("/a b/c_d.e") == "-a-b-c-d-e"


@pytest.mark.seed(95)
@pytest.mark.parametrize("there_before", [False, True])
@pytest.mark.parametrize("failing", [".jsonl", ".meta.json"])
def test_when_one_write_fails_neither_file_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, there_before: bool
) -> None:
    archive, data = archive_in(tmp_path), transcript_of(TALK)
    if there_before:
        archive.write("main", data, Watermark("1"))
    write = session_archive._replace

    def full(path: Path, content: bytes) -> None:
        if path.name.endswith(failing):
            raise OSError(28, "No space left on device")
        write(path, content)

    monkeypatch.setattr(session_archive, "_replace", full)
    with pytest.raises(OSError, match="No space left"):
        archive.write("main", data, Watermark("2"))
    assert [path for path in archive.paths("main") if path.exists()] == []
    assert archive.read("main") == (b"", Watermark())


class _Leaving(Archive):
    """Does not take away what it has written."""

    def forget(self, session: str) -> None:
        """Leave it."""


@pytest.mark.seed(95, kind="mutant")
def test_a_transcript_without_its_watermark_would_stay_and_is_not_trusted(tmp_path: Path) -> None:
    archive = _Leaving(tmp_path / "claude", tmp_path)
    file, mark = archive.paths("main")
    mark.mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        archive.write("main", transcript_of(TALK), Watermark("1"))
    assert file.exists()
    assert archive_in(tmp_path).read("main") == (b"", Watermark())


@pytest.mark.seed(95)
def test_a_watermark_of_another_transcript_is_not_trusted(tmp_path: Path) -> None:
    archive, rows = archive_in(tmp_path), [SessionRow("1", user("Hi")), SessionRow("2", TALK[1])]
    data = transcript_of([row.message for row in rows])
    archive.write("main", data, watermark_at_end(rows, data))
    assert archive.read("main")[0] == data
    archive.paths("main")[0].write_bytes(transcript_of(TALK))
    assert archive.read("main") == (b"", Watermark())


@pytest.mark.seed(95)
def test_a_reply_is_stored_also_when_it_cannot_be_exported(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    (tmp_path / "claude").write_text("a file where a folder should be")
    for n, text in enumerate(("Hi", "And?")):
        transcript, inbound = archived(tmp_path, store), Inbound(f"m{n}", text=text)
        assert transcript.open(inbound)
        transcript.close(inbound, Outcome("ok", assistant(f"Reply {n}")))
    assert [row.message.text for row in store.rows("main")] == ["Hi", "Reply 0", "And?", "Reply 1"]


def _rows(messages: list[Message]) -> list[SessionRow]:
    return [SessionRow(str(n), message) for n, message in enumerate(messages)]


@pytest.mark.seed(96)
def test_rows_follow_an_answer_and_nothing_else() -> None:
    rows = _rows([*TALK, user("More")])
    for place, row in enumerate(rows):
        found = rows_after(rows, watermark_at_end(rows[: place + 1], b"x"))
        assert found == (rows[place + 1 :] if row.message.role == "assistant" else None)
    assert rows_after(rows, Watermark()) is None
    assert rows_after(rows, Watermark("1", "another digest")) is None


@given(st.lists(st.booleans(), min_size=4, max_size=4))
@pytest.mark.seed(96)
def test_reasoning_rows_do_not_shift_a_watermark(reasons: list[bool]) -> None:
    thought = Message("assistant", (Thinking("Hm", "signed"),))
    messages = [
        m for m, wanted in zip(TALK, reasons, strict=True) for m in [thought] * wanted + [m]
    ]
    rows = _rows([*messages, user("More"), assistant("Said")])
    missing = rows_after(rows, watermark_at_end(rows[: len(messages)], b"x"))
    assert missing is not None
    assert [row.message.text for row in missing] == ["More", "Said"]


@pytest.mark.seed(96)
def test_a_turn_that_failed_is_told_by_the_store(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    ends = [Outcome("ok", assistant("Ho")), Outcome("failed", assistant("No"), "error")]
    for n, end in enumerate(ends):
        transcript, inbound = archived(tmp_path, store), Inbound(f"m{n}", text=f"Text {n}")
        assert transcript.open(inbound)
        transcript.close(inbound, end)
    data = archive_in(tmp_path).read("main")[0]
    assert [m.text for m in messages_of(data)] == ["Text 0", "Ho"]
    last = archived(tmp_path, store)
    assert last.open(Inbound("m9", text="And now?"))
    assert [m.text for m in last.messages] == ["Text 0", "Ho", "Text 1", "No", "And now?"]


@pytest.mark.seed(96, kind="mutant")
def test_a_watermark_that_counts_is_caught() -> None:
    assert_caught("archive_counts_its_watermark")
