"""JSON Lines an entry at a time: what is not an entry is noted, and nothing grows without bound."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.providers.shared.json_fields import parse
from harness.recordings import session_log
from harness.recordings.session_log import (
    LogEntry,
    Notes,
    SizeBound,
    entries,
    first_objects,
    known_keys,
    split,
)


def _read(data: bytes) -> tuple[list[LogEntry], tuple[str, ...]]:
    notes = Notes()
    return list(entries(split(data), notes)), notes.texts()


@given(st.binary())
def test_split_loses_nothing_and_breaks_at_line_feeds_alone(data: bytes) -> None:
    found = list(split(data))
    assert b"".join(found) == data
    assert all(line.count(b"\n") == line.endswith(b"\n") and line for line in found)
    assert all(line.endswith(b"\n") for line in found[:-1])


def test_entries_are_numbered_by_their_lines() -> None:
    found, notes = _read(b'\n{"a": 1}\n \n{"b": "\xe2\x80\xa8"}')
    assert found == [LogEntry(2, {"a": 1}, 9), LogEntry(4, {"b": "\u2028"}, 12)]
    assert notes == ()


def test_what_is_no_object_is_noted_and_a_torn_end_is_named() -> None:
    found, notes = _read(b'{"a": 1}\n[1]\n{"b"\n\xff\n{"c": ')
    assert [entry.number for entry in found] == [1]
    assert notes == (
        "line 2: not a JSON object, skipped",
        "line 3: not a JSON object, skipped",
        "line 4: not a JSON object, skipped",
        "line 5: the last line is torn, skipped",
    )


def test_notes_of_a_million_bad_lines_are_few() -> None:
    notes = Notes()
    assert list(entries((b"x\n" for _ in range(5000)), notes)) == []
    assert len(notes.texts()) == 101
    assert notes.texts()[-1] == "and 4900 lines more"
    refusal = notes.refusal("no entry")
    assert str(refusal) == "line 1: no entry: line 1: not a JSON object, skipped"


def test_a_line_that_is_too_long_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_log, "MAX_LINE_BYTES", 10)
    assert len(_read(b'{"a":"12"}\n'[:10])[0]) == 1
    with pytest.raises(InputError, match="line 2: longer than"):
        _read(b'{"a": 1}\n{"a": "123"}\n')


def test_no_more_is_kept_than_a_machine_should_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_log, "MAX_KEPT_BYTES", 20)
    kept = SizeBound()
    kept.add(LogEntry(1, {}, 20))
    with pytest.raises(InputError, match="line 2: more than"):
        kept.add(LogEntry(2, {}, 1))


def test_lines_are_asked_for_one_at_a_time() -> None:
    taken: list[int] = []

    def written() -> Iterator[bytes]:
        for number in range(3):
            taken.append(number)
            yield b"{}\n"

    for entry in entries(written(), Notes()):
        assert taken == list(range(entry.number))


def test_the_first_objects_leave_out_a_torn_end() -> None:
    assert [*first_objects(b'{"a": 1}\nx\n[2]\n{"b": 2}\n{"c"')] == [{"a": 1}, {"b": 2}]
    assert [*first_objects(b'{"a": 1}\n' * 50)] == [{"a": 1}] * 20
    assert [*first_objects(b'{\n  "a": {}\n}\n')] == []
    assert [*first_objects(b' {"a": 1} \r\n{a}')] == [{"a": 1}]


class _Known(TypedDict, total=False):
    a: Any
    b: Any


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "other"]), VALUES)


@given(OBJECTS | VALUES, st.sampled_from(["", "\n", "}", '"', "\ud800"]))
def test_known_keys_have_the_values_of_the_whole_line(value: object, more: str) -> None:
    line = (json.dumps(value) + more).encode("utf-8", "surrogatepass")
    whole, known = parse(line), known_keys(_Known)(line)
    if isinstance(whole, dict) and isinstance(known, dict):
        keys = ("a", "b")
        assert repr([known.get(key) for key in keys]) == repr([whole.get(key) for key in keys])
    else:
        assert repr(known) == repr(whole)


def test_other_keys_are_not_built() -> None:
    assert known_keys(_Known)(b'{"a": 1, "other": {"long": "text"}}') == {"a": 1}
