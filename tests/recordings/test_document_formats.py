"""Documents of JSON: after any change one is read, or refused in one line."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.history import encode
from harness.core.values.errors import InputError
from harness.recordings import json_documents
from harness.recordings.recognition import format_of, formats, read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from tests.recordings.documents import ASKED, SAMPLES, SEEN

WHOLE = {name: sample for name, (_, sample) in SAMPLES.items() if not name.endswith(" lines")}


@pytest.mark.parametrize("name", list(SAMPLES))
def test_the_first_format_that_looks_like_a_sample_is_its_own(name: str) -> None:
    format, data = SAMPLES[name]
    assert format_of(data) == format
    assert read(data).format == format
    likely = [name for name, kind in formats().items() if kind.recognises(data)]
    beside = {"chat_json", "chat_lines", "chat_rows"}
    assert set(likely) <= {format} | beside, "only a chat may fit beside another format"


@pytest.mark.parametrize("name", list(SAMPLES))
def test_every_sample_says_what_was_asked_and_seen(name: str) -> None:
    recording = read(SAMPLES[name][1])
    assert recording.refusals == ()
    for transcript in recording.transcripts:
        spoken = transcript.spoken.said
        assert spoken[0].text == ASKED
        results = [result.text for message in spoken for result in message.tool_results]
        assert name == "har" or SEEN in results[0]
        assert counts(transcript)["orphan_results"] == 0


@pytest.mark.parametrize("name", list(SAMPLES))
def test_utf_16_and_a_mark_of_utf_8_change_nothing(name: str) -> None:
    data = SAMPLES[name][1]
    assert read(data.decode().encode("utf-16")) == read(data)
    assert read(b"\xef\xbb\xbf" + data) == read(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'[{"role": "user",\n "content": "x"', "line 2: not JSON: "),
        (b'[{"role": "user",\n "content": "\xe4"}]', "line 2: not UTF-8: save the file in that"),
        (b"\xff\xfe\x00", "line 1: begins as UTF-16 and is not UTF-16: "),
        (b"[" * 100_000, "line 1: nested too deeply"),
        (b'{"role": ' * 100_000, "line 1: nested too deeply"),
        (b'{"a": 1}', "line 1: format not recognised: a JSON object with a: "),
        (b"[1]", "line 1: format not recognised: JSON: "),
    ],
)
def test_what_is_no_document_says_where_and_why(data: bytes, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "f")
    assert str(caught.value).startswith(f"f: {says}")
    assert "\n" not in str(caught.value)


def test_a_document_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_documents, "MAX_BYTES", 2 * 1024**2)
    with pytest.raises(InputError, match="line 1: too large: 3 MiB of JSON, at most 2 are read"):
        read(b"[" + b" " * 3 * 1024**2 + b"]")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b'{"a": 1}\n{"a": 2}', True),
        (b'{"a": 1}\n\n {"to', True),
        (b'{"a": 1}\n', False),
        (b'{"a": 1}', False),
        (b'{\n"a": 1}', False),
        (b'[{"a": 1}\n,{"a": 2}]', False),
        (b"", False),
    ],
)
def test_lines_are_objects_one_after_another(data: bytes, lines: bool) -> None:
    assert json_documents.is_lines(data) is lines


def _survives(data: bytes, format: str) -> None:
    found: tuple[Transcript, ...] = ()
    try:
        found = read(data, "f", format).transcripts
    except InputError as error:
        told = str(error)
    else:
        told = ""
    assert "\n" not in told
    for transcript in found:
        assert counts(transcript)["messages"] >= 0
        encode(to_history(transcript).events)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "id", "text", "a"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below: Any = ()
    if isinstance(value, (dict, list)):
        below = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(place for key, part in below for place in _places(part, (*path, key)))]


def _changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _changed(value[path[0]], path[1:], new)
    return copy


@given(st.sampled_from(list(WHOLE)), st.sampled_from(["auto", *formats()]), st.data())
def test_any_value_in_the_place_of_another(name: str, format: str, data: st.DataObject) -> None:
    value = json.loads(WHOLE[name])
    path = data.draw(st.sampled_from(_places(value)))
    changed = _changed(value, path, data.draw(_JSON))
    _survives(json.dumps(changed).encode(), data.draw(st.sampled_from([format, SAMPLES[name][0]])))


@given(st.sampled_from(list(WHOLE)), st.integers(2, 1200))
def test_nesting_of_any_depth(name: str, depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    data = WHOLE[name].replace(json.dumps(SEEN).encode(), deep)
    assert name == "har" or "autogpt" in name or data != WHOLE[name]
    _survives(data, "auto")


def _sized(format: str, size: int) -> bytes:
    """A document in a format, with a given number of messages, tasks, nodes or entries."""
    value = json.loads(SAMPLES[format][1])
    grown: Any = {
        "har": lambda: {"log": {"entries": value["log"]["entries"] * size}},
        "swe_agent": lambda: {**value, "trajectory": value["trajectory"] * size},
        "mini_swe_agent": lambda: {**value, "messages": value["messages"] * size},
        "moatless": lambda: {"nodes": [_node(value, number) for number in range(size)]},
        "intercode": lambda: {str(number): value["0"] for number in range(size)},
        "atif": lambda: {**value, "steps": value["steps"] * size},
        "autogpt history": lambda: value * size,
        "autogpt state": lambda: {"episodes": value["history"]["episodes"] * size},
        "inspect_ai": lambda: {**value, "samples": value["samples"] * size},
        "langfuse": lambda: {**value, "observations": value["observations"] * size},
        "chat list": lambda: value * size,
        "chat object": lambda: {"messages": value["messages"] * size},
        "chat objects": lambda: value * size,
    }
    return json.dumps(grown[format]()).encode()


def _node(tree: Any, number: int) -> dict[str, Any]:
    return {**tree["nodes"][1], "node_id": number, "parent_id": number - 1 if number else None}


def _calls(data: bytes) -> int:
    """How many functions are called to read the bytes, ours and those of C."""
    made = 0

    def count(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        read(data)
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize("name", list(WHOLE))
def test_the_work_grows_as_the_document_does(name: str) -> None:
    some, more, most = (_calls(_sized(name, size)) for size in (100, 200, 300))
    assert more > 100
    assert abs((most - more) - (more - some)) <= 0.02 * most
