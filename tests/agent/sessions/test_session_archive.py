"""The agent that exports its sessions and is told from there behaves as the one that does not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from harness.agent import agent
from harness.agent.sessions.jsonl_conversation import messages_of, problem
from harness.agent.sessions.session_archive import Archive, ArchivedTranscript, Watermark
from harness.core.history.history import canonical
from harness.core.scenario.scenario import Scenario
from harness.core.values.messages import Message
from harness.runner import run
from harness.stores.session_store import SessionRow
from harness.stores.sqlite import SqliteStore
from tests.agent.replies import text, too_long, use
from tests.agent.stand import Stand
from tests.scenarios.all_runs import all_runs, is_of_the_seeds, named, tiers

FAILING = "failing-store"  # its faults count the calls of the store, and the archive makes more
RUNS = [
    run
    for run in all_runs()
    if is_of_the_seeds(run) and not run.stream and run.wire == "anthropic" and run.name != FAILING
]
ARCHIVE = {"archive": True}


@pytest.mark.parametrize("scenario", tiers(RUNS, RUNS[::4]))
def test_every_scenario_passes_with_the_very_same_history(scenario: Scenario) -> None:
    done = run(scenario, agent, options=ARCHIVE)
    assert [f"{f.code}: {f.message}" for f in done.verdict.findings] == []
    assert done.verdict.verdict == "pass"
    assert canonical(done.history) == canonical(run(scenario, agent).history)


@pytest.mark.parametrize("name", ["replay-spiral", "second-compaction", "unusual-text/in-tools"])
def test_both_worlds_agree(name: str) -> None:
    runs = [run(named(name), agent, options=ARCHIVE, world=w) for w in ("simulate", "supervise")]
    assert [done.verdict.verdict for done in runs] == ["pass", "pass"]
    assert canonical(runs[0].history) == canonical(runs[1].history)


class _Watched(ArchivedTranscript):
    """Notes what it is told from the archive."""

    def __init__(self, told: list[int], *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]
        self._told = told

    def missing(self, data: bytes, mark: Watermark) -> list[SessionRow] | None:
        """Note how many messages come from the archive."""
        found = super().missing(data, mark)
        self._told.append(len(messages_of(data)) if found is not None else -1)
        return found


def _run(folder: Path, told: list[int], replies: Sequence[object], *inbox: str) -> Stand:
    stand = Stand(folder, replies, *inbox)
    stand.tool("look", "seen")
    return stand.run(transcript=partial(_Watched, told, Archive(folder / "claude", folder)))


def test_from_the_second_turn_on_the_archive_tells_the_history(tmp_path: Path) -> None:
    told: list[int] = []
    replies = [text("One"), use("look", {"at": "x"}), text("Two"), text("Three")]
    stand = _run(tmp_path, told, replies, "a", "b", "c")
    assert told == [-1, 2, 6]
    assert stand.sides == "uauauaua"
    data, _ = Archive(tmp_path / "claude", tmp_path).read("main")
    assert problem(data) == ""
    assert messages_of(data) == stand.rows()


@pytest.mark.parametrize("damage", [b"", b"{torn", b"[]\n", b"\x00" * 99])
def test_a_damaged_archive_leaves_the_telling_to_the_store(tmp_path: Path, damage: bytes) -> None:
    _run(tmp_path, [], [text("One")], "a")
    Archive(tmp_path / "claude", tmp_path).paths("main")[0].write_bytes(damage)
    again = Stand(tmp_path, [text("Two")])
    again.messages = [*Stand(tmp_path, [], "a", "b").messages[1:]]
    told: list[int] = []
    again.run(transcript=partial(_Watched, told, Archive(tmp_path / "claude", tmp_path)))
    assert told == [-1]
    assert [m["content"][0]["text"] for m in again.provider.requests[0]["messages"]] == [
        "a",
        "One",
        "b",
    ]


def test_a_rebuilt_history_is_not_exported(tmp_path: Path) -> None:
    replies = [text("One " * 500), too_long(), too_long(), text("Two")]
    stand = Stand(tmp_path, replies, "a", "b " * 500)
    stand.provider.compact_replies = [text(" ")]
    stand.run(transcript=partial(ArchivedTranscript, Archive(tmp_path / "claude", tmp_path)))
    data, _ = Archive(tmp_path / "claude", tmp_path).read("main")
    assert [message.role for message in messages_of(data)] == ["user", "assistant"]
    assert len(stand.rows()) == 4


def test_a_lost_store_is_filled_from_the_archive(tmp_path: Path) -> None:
    first = _run(tmp_path, [], [use("look", {"at": "x"}), text("One")], "a")
    before: list[Message] = first.rows()
    lost = Stand(tmp_path, [text("Two")], "b")
    lost.store = SqliteStore(tmp_path / "new.db")
    lost.run(transcript=partial(ArchivedTranscript, Archive(tmp_path / "claude", tmp_path)))
    assert lost.rows()[:4] == before
    assert lost.sides == "uauaua"
