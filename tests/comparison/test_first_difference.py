"""The first call that differs: what counts is told, and what is new with each run is not."""

from __future__ import annotations

import pytest

from harness.comparison import differences
from harness.core.history.history import History, decode, encode
from tests.comparison import edited, played

RUNS = ("circles", "circles/in-one-batch+stream", "circles/spread-over-turns")


@pytest.mark.parametrize("name", RUNS)
def test_a_run_and_itself_differ_in_nothing(name: str) -> None:
    found = differences(played(name), edited(played(name)))
    assert (found.first, found.frames) == (None, ())


def other_ids(history: History) -> History:
    """The history with other ids of calls."""
    ids = {use.id for message in history.messages.values() for use in message.tool_uses}  # type: ignore[attr-defined]
    return edited(history, *((id, f"call_{number}") for number, id in enumerate(sorted(ids))))


@pytest.mark.parametrize("name", RUNS)
def test_ids_times_and_prose_do_not_count(name: str) -> None:
    history = played(name)
    words = [("was not run", "did not run")] if "was not run" in said(history) else []
    changed = edited(other_ids(history), *words, ('"turn":1', '"at_ms":7,"turn":1'))
    assert differences(history, changed).first is None


def said(history: History) -> str:
    """All messages of a history."""
    return " ".join(map(str, history.messages.values()))  # type: ignore[attr-defined]


def test_an_argument_counts() -> None:
    history = played("circles")
    changed = edited(history, ('"name":"read","input":{"path":"app.ini"}}}',
                               '"name":"read","input":{"path":"api.ini"}}}'))  # fmt: skip
    found = differences(history, changed).first
    assert found is not None
    assert found.what == 'tool read: path "app.ini" → "api.ini"'
    assert found.before_key == found.after_key == "main/tool#1"
    assert found.before_n == found.after_n > 0


def test_the_number_of_calls_counts() -> None:
    history = played("circles")
    found = differences(history, played("circles", "naive")).first
    assert found is not None
    assert found.what == "model → tool read"
    assert (found.before_key, found.after_key) == ("main/model#8", "main/tool#7")
    other = differences(played("circles", "naive"), history).first
    assert other is not None
    assert other.what == "tool read → model"


def test_the_shape_of_messages_counts() -> None:
    history = played("circles/spread-over-turns")
    changed = edited(history, ('"role":"user","blocks":[{"type":"tool_result"',
                               '"role":"user","blocks":[{"type":"text","text":"See:"},'
                               '{"type":"tool_result"'))  # fmt: skip
    found = differences(history, changed).first
    assert found is not None
    assert found.what.startswith("model: message 3: user: result of read, call 1, 1 back → user: t")


def test_a_message_that_is_missing_counts() -> None:
    history = played("circles/spread-over-turns")
    keys = [e.called.key for e in history.trace.exchanges]
    changed = edited(history, (f'"after":"{keys[1]}","keep":3', f'"after":"{keys[1]}","keep":1'))
    found = differences(history, changed).first
    assert found is not None
    assert found.before_key == keys[2]
    assert found.what.startswith("model: 5 → 3 messages, message 4: assistant: use read ")


def test_what_the_world_answers_is_told_as_its_own() -> None:
    history = played("circles")
    n = next(e.n for e in history.trace.exchanges if e.called.key == "main/model#1")
    changed = edited(history, ('"script_turn":0,', '"script_turn":0,"faults":["http.status"],'))
    found = differences(history, changed).first
    assert found is not None
    assert found.by_world
    assert found.before_n == n
    assert found.what == "the answer to model: faults none → http.status"


def test_the_frame_of_requests_hides_no_call() -> None:
    history = played("circles")
    changed = edited(
        history, ('"max_tokens":4096', '"max_tokens":9'), ('"name":"list"', '"name":"ls"')
    )
    found = differences(history, changed)
    assert "max_tokens: 4096 → 9" in found.frames
    assert any(one.startswith("tools: -list(") for one in found.frames)
    assert found.first is not None
    assert "list" in found.first.what


def test_the_end_counts() -> None:
    history = played("circles")
    found = differences(history, edited(history, ('"how":"returned"', '"how":"hung"'))).first
    assert found is not None
    assert found.what == "the run has returned → the run has hung"


def test_a_call_that_is_missing_is_told_before_the_end() -> None:
    history = played("circles")
    lines = encode(history.events).decode().splitlines(keepends=True)
    last = next(n for n, line in enumerate(lines) if '"key":"main/tool#2"' in line)
    short = decode("".join([*lines[:last], lines[-1].replace("returned", "crashed")]).encode())
    for one, other, what in ((short, history, "no more calls →"), (history, short, "→ no more c")):
        found = differences(one, other).first
        assert found is not None
        assert what in found.what


def test_a_session_that_one_side_has_alone() -> None:
    history = played("circles")
    found = differences(history, edited(history, ('"session":"main"', '"session":"s-77"'))).first
    assert found is None  # a session is known by its place where the names are new
