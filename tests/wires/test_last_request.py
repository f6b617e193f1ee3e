"""The last request: what of the next one is new, and what comes of a body that is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wires.last_request import Found, LastRequest
from harness.wires.layout import NotAnObject

messages = st.lists(st.sampled_from(["a", "bb", {"c": [1]}, [2], None, 33]), max_size=6)
fields = st.dictionaries(st.sampled_from(["m", "n", "\u00e9"]), st.integers(0, 9), max_size=2)
layouts = st.sampled_from([(",", ":"), (", ", ": ")])


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """A request in some layout, with fields on both sides of the list."""
    value = {**draw(fields), "messages": draw(messages), **draw(fields)}
    return json.dumps(value, separators=draw(layouts)).encode()


@given(st.lists(bodies(), min_size=1, max_size=6))
def test_what_is_kept_and_what_is_new_are_the_whole(requests: list[bytes]) -> None:
    last, known = LastRequest(), list[bytes]()
    said: dict[str, bytes] = {}
    for body in requests:
        found = last.find(body)
        assert found.raws is not None
        known[found.keep :] = found.raws
        said = said if found.fields is None else found.fields
        value = json.loads(body)
        assert [json.loads(raw) for raw in known] == value.pop("messages")
        assert {name: json.loads(raw) for name, raw in said.items()} == value


def test_a_request_that_goes_on_has_only_its_new_messages() -> None:
    last = LastRequest()
    last.find(b'{"m":1,"messages":["a","b"],"n":2}')
    assert last.find(b'{"m":1,"messages":["a","b","c"],"n":2}') == Found(2, (b'"c"',), None)
    other = {"m": b"1", "n": b"3"}
    assert last.find(b'{"m":1,"messages":["a","b","c"],"n":3}') == Found(3, (), other)
    assert last.find(b'{"m":1,"messages":["a","x"],"n":3}') == Found(1, (b'"x"',), None)


def test_what_was_forgotten_is_new() -> None:
    last = LastRequest()
    first = last.find(b'{"messages":["a"]}')
    last.forget()
    assert last.find(b'{"messages":["a"]}') == first == Found(0, (b'"a"',), {})


@pytest.mark.parametrize(("bad", "body"), [(b"3", b'{"messages":3}'), (b"", b"{}")])
def test_without_a_list_there_is_what_stands_in_its_place(bad: bytes, body: bytes) -> None:
    assert LastRequest().find(body) == Found(0, None, {}, bad)


@pytest.mark.parametrize(("body", "error"), [(b"[]", NotAnObject), (b"{", ValueError)])
def test_what_is_no_object_is_no_request(body: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        LastRequest().find(body)
