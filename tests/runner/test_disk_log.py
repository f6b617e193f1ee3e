from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.history import History, decode, encode
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import Message, Text
from harness.runner import run_folder
from harness.runner.disk_log import DiskLog


def _tell(history: History, steps: list[int]) -> None:
    """A few events, drawn: messages that come again, values, calls and their answers."""
    for n, step in enumerate(steps, start=1):
        names = (history.note(Message("user", (Text(f"text {step}"),))),)
        system = history.value({"rules": step % 3})
        key = f"main/model#{n}"
        history.called(
            key=key, seam="model", session="main", request=ModelRequest("m", names, system=system)
        )
        history.answered(key, "model", blocks=history.note(Message("assistant")))


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 12))
def test_a_log_on_disk_is_the_one_in_memory(steps: list[int], in_memory_max: int) -> None:
    kept, spooled = History(), History(log=DiskLog(in_memory_max))
    _tell(kept, steps)
    _tell(spooled, steps)
    assert spooled.events == kept.events
    assert len(spooled.events) == len(kept.events)
    assert list(reversed(spooled.events)) == list(reversed(kept.events))
    assert spooled.events[-3:] == kept.events[-3:]
    assert encode(spooled.events) == encode(kept.events)
    for digest, message in kept.messages.items():
        assert digest in spooled.messages
        assert spooled.messages[digest] == spooled.messages.get(digest) == message
    assert dict(spooled.messages) == kept.messages
    assert list(spooled.messages) == list(kept.messages)
    assert len(spooled.messages) == len(kept.messages)
    assert dict(spooled.values) == kept.values
    assert spooled.past.calls == kept.past.calls
    assert spooled.trace.exchanges[-1:] == spooled.trace.exchanges[-1:]


def test_what_is_not_there_is_not_there() -> None:
    history = History(log=DiskLog(2))
    _tell(history, [1, 2, 3, 4])
    assert "none" not in history.messages
    assert history.messages.get("none") is None
    assert history.messages.get("none", Message("user")) == Message("user")
    with pytest.raises(KeyError):
        history.messages["none"]
    with pytest.raises(IndexError):
        history.events[10**6]
    assert history.events != encode([])
    assert history.events != History().events


def test_the_events_are_at_hand_while_they_are_few() -> None:
    history = History(log=DiskLog(in_memory_max=6))
    first = history.started(run="r", scenario="s")
    assert history.events[0] is first
    _tell(history, [1, 2, 3])
    assert history.events[0] == first
    assert history.events[0] is not first


def test_who_walks_over_the_events_meets_those_that_come_meanwhile() -> None:
    history = History(log=DiskLog(in_memory_max=4))
    _tell(history, [1, 2])
    seen = []
    for event in history.events:
        seen.append(event)
        if len(seen) in (1, 5):
            _tell(history, [len(seen) + 4])  # which moves others out
    assert seen == list(history.events)
    assert len(seen) > 8


def test_a_history_is_written_whole_and_read_back(tmp_path: Path) -> None:
    history = History(log=DiskLog(3))
    _tell(history, [1, 2, 3, 2])
    path = run_folder.write_history(tmp_path, history)
    assert decode(path.read_bytes()).events == list(history.events)


def test_events_travel_to_another_process_as_a_list() -> None:
    history = History(log=DiskLog(3))
    _tell(history, [1, 2, 3])
    assert pickle.loads(pickle.dumps(history.events)) == list(history.events)
    assert pickle.loads(pickle.dumps(history.messages)) == dict(history.messages)


def test_half_a_character_comes_back_as_a_file_has_it() -> None:
    history = History(log=DiskLog(2))
    name = history.note(Message("user", (Text("a\ud83d"),)))
    _tell(history, [1, 2, 3])
    assert history.messages[name] == Message("user", (Text("a\\ud83d"),))


def test_a_long_run_needs_no_more_memory_than_a_shorter_one() -> None:
    history = History(log=DiskLog(in_memory_max=200))
    _tell_on(history, 1, 1_000)
    tracemalloc.start()
    try:
        _tell_on(history, 1_000, 2_000)
        before, _ = tracemalloc.get_traced_memory()
        _tell_on(history, 2_000, 6_000)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 4_000 * 40


def _tell_on(history: History, first: int, end: int) -> None:
    """Calls that each bring a message that was never there."""
    for n in range(first, end):
        key = f"main/model#{n}"
        names = (history.note(Message("user", (Text(f"text {n}"),))),)
        history.called(key=key, seam="model", session="main", request=ModelRequest("m", names))
        history.answered(key, "model")
