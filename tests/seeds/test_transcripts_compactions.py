"""Statements 82 to 84: compactions of another program, announced in the middle of an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.sessions.compaction_notices import CompactionEnd, CompactionNotices
from tests.seeds.transcript_lines import assert_caught


class _Once(CompactionNotices):
    """The first version: done for this query after one compaction."""

    def __init__(self) -> None:
        super().__init__()
        self._done = False

    def announce(self, path: str) -> None:
        """Take the first announcement."""
        if not self._done:
            super().announce(path)
        self._done = True


def _endings(tracker: CompactionNotices) -> list[str]:
    tracker.announce("one.jsonl")
    first = tracker.message()
    tracker.announce("two.jsonl")
    tracker.heartbeat()
    second = tracker.message()
    return [ended.path for ended in (first, second) if ended.just_ended]


@pytest.mark.seed(82)
def test_two_compactions_in_one_query_are_both_handled_with_their_own_paths() -> None:
    assert _endings(CompactionNotices()) == ["one.jsonl", "two.jsonl"]


@pytest.mark.seed(82, kind="mutant")
def test_an_agent_that_compacts_once_is_caught() -> None:
    assert _endings(_Once()) == ["one.jsonl"]
    assert_caught("archive_compacts_once")


@given(st.lists(st.sampled_from(["announce", "heartbeat", "message"]), max_size=30))
@pytest.mark.seed(82)
def test_every_announcement_starts_and_ends_once_and_in_order(steps: list[str]) -> None:
    tracker, announced, ended, notices = CompactionNotices(), list[str](), list[str](), list[str]()
    for n, step in enumerate([*steps, *["message"] * 30]):
        if step == "announce":
            announced.append(f"{n}.jsonl")
            tracker.announce(announced[-1])
        elif step == "heartbeat":
            notices += tracker.heartbeat()
        else:
            over = tracker.message()
            notices += over.notices
            ended += [over.path] * over.just_ended
    assert ended == announced
    assert notices == ["start", "end"] * len(announced)


@pytest.mark.seed(83)
def test_without_a_heartbeat_start_and_end_come_with_the_message() -> None:
    tracker = CompactionNotices()
    tracker.announce("one.jsonl")
    assert tracker.message() == CompactionEnd(("start", "end"), True, "one.jsonl")
    assert tracker.message() == CompactionEnd()


@pytest.mark.seed(83)
def test_with_a_heartbeat_only_the_end_is_left() -> None:
    tracker = CompactionNotices()
    assert tracker.heartbeat() == ()
    tracker.announce("one.jsonl")
    assert tracker.heartbeat() == ("start",)
    assert tracker.heartbeat() == ()
    assert tracker.message() == CompactionEnd(("end",), True, "one.jsonl")


@pytest.mark.seed(84)
@pytest.mark.parametrize("started", [False, True])
def test_a_new_query_knows_nothing_of_the_old_ones_paths(started: bool) -> None:
    tracker = CompactionNotices()
    tracker.announce("old.jsonl")
    if started:
        tracker.heartbeat()
    tracker.begin_query()
    assert tracker.heartbeat() == ()
    assert tracker.message() == CompactionEnd()
    tracker.announce("new.jsonl")
    assert tracker.message() == CompactionEnd(("start", "end"), True, "new.jsonl")
