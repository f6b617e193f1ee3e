"""The compact form: everything comes back, a torn or wrong file is one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.recordings.http_interaction import Cassette, Interaction
from harness.recordings.readers import compact
from tests.cassettes.interactions import cassettes


def _file(cassette: Cassette) -> bytes:
    return b"".join(compact.encode_cassette(cassette))


def _run(turns: int) -> Cassette:
    """A run in which each request is the one before and two messages more."""
    messages: list[dict[str, str]] = []
    made = []
    for n in range(turns):
        messages = [*messages, {"role": "user", "content": f"question {n} " + "x" * 200}]
        body = json.dumps({"model": "m", "messages": messages}).encode()
        made.append(Interaction(method="POST", uri="u", request_body=body, status=200))
        messages = [*messages, {"role": "assistant", "content": f"answer {n}"}]
    return Cassette(made)


@given(cassettes)
def test_whatever_is_written_comes_back(cassette: Cassette) -> None:
    data = _file(cassette)
    again = compact.decode_cassette(data)
    assert compact.is_compact(data)
    assert list(again.interactions) == list(cassette.interactions)
    assert list(again.interactions) == list(cassette.interactions), "and again"
    assert again.metadata == cassette.metadata
    assert all(json.loads(line) for line in data.splitlines())


def test_a_message_stands_once_however_long_the_run() -> None:
    data = _file(_run(40))
    for n in (0, 20, 39):
        assert data.count(f"question {n} x".encode()) == 1
    kinds = [json.loads(line)["kind"] for line in data.splitlines()]
    assert kinds.count("frame") == 1
    assert len(_file(_run(80))) < 2.1 * len(data), "linear"


def test_requests_of_parallel_agents_each_go_on_from_their_own() -> None:
    one, two = _run(10), _run(10)
    lanes = [
        Interaction(
            method="POST",
            uri="u",
            request_body=item.request_body.replace(b"question", lane),
            status=200,
        )
        for pair in zip(one.interactions, two.interactions, strict=True)
        for item, lane in zip(pair, (b"first", b"second"), strict=True)
    ]
    data = _file(Cassette(lanes))
    rows = [json.loads(line) for line in data.splitlines()]
    asked = [row["request"] for row in rows if row["kind"] == "exchange"]
    assert all(len(request.get("add", [])) <= 2 for request in asked)
    assert list(compact.decode_cassette(data).interactions) == lanes


def test_the_mark_in_a_message_is_no_mark() -> None:
    said = '{"messages": [{"content": "$messages"}], "x": ["$messages"]}'
    item = Interaction(method="POST", uri="u", request_body=said.encode(), status=200)
    assert list(compact.decode_cassette(_file(Cassette([item]))).interactions) == [item]


@given(st.data())
def test_a_torn_file_is_never_taken_for_a_whole_one(data: st.DataObject) -> None:
    whole = _file(_run(3))
    torn = whole[: data.draw(st.integers(0, len(whole) - 2))]
    with pytest.raises(InputError):
        list(compact.decode_cassette(torn).interactions)


_OPEN = b'{"kind":"cassette","version":1}\n'
_END = b'{"kind":"end","exchanges":1}\n'
_ASKED = b'{"kind":"exchange","number":1,"method":"POST","uri":"u","status":200,"request":'


@pytest.mark.parametrize(
    ("data", "place", "what"),
    [
        (b"\n", "line 1", "the first line is not that of a cassette"),
        (_END, "line 1", "the first line is not that of a cassette"),
        (_OPEN.replace(b"1", b"9"), "line 1", "`version` is 9: known is 1"),
        (_OPEN, "line 1", "torn: the last line does not end the cassette"),
        (_OPEN + b"{\n" + _END, "line 2", "no line of a cassette"),
        (_OPEN + b'{"kind":"other"}\n' + _END, "line 2", "no line of a cassette"),
        (_OPEN + b"\xff\n" + _END, "line 2", "no line of a cassette"),
        (_OPEN + _END, "line 2", "torn: 0 exchanges, where the last line counts 1"),
        (_OPEN + _ASKED + b'{"frame":"f"}}\n' + _END, "line 2", "names f, which is not before"),
        (_OPEN + _ASKED + b'{"frame":"f","after":5}}\n' + _END, "line 2", "goes on from exchange"),
        (_OPEN + _ASKED + b'{"base64":"?"}}\n' + _END, "line 2", "a body is not base64"),
        (
            _OPEN + b'{"kind":"frame","digest":"f","value":{}}\n' + _ASKED + b'{"frame":"f"}}\n'
            + _END, "line 3", "frame f has no single",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(data: bytes, place: str, what: str) -> None:
    with pytest.raises(InputError) as refused:
        list(compact.decode_cassette(data).interactions)
    assert refused.value.place == place
    assert what in refused.value.what
    assert "\n" not in str(refused.value)


def _said(data: bytes) -> str:
    try:
        return repr(list(compact.decode_cassette(data).interactions))
    except InputError as error:
        return str(error)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_cassette_or_one_line(data: bytes) -> None:
    assert "\n" not in _said(_OPEN + data)
