"""The last request: what of the next one is new, and what a body that is not a request gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.providers.shared.request_memory import LastRequest, NewMessages, NotAnObject

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


def told(found: NewMessages) -> tuple[Any, ...]:
    """What was found; each value is what its bytes say."""
    assert list(found.values) == [json.loads(raw) for raw in found.raws or ()]
    return found.keep, found.raws, found.fields


def test_a_request_that_goes_on_has_only_its_new_messages() -> None:
    last = LastRequest()
    last.find(b'{"m":1,"messages":["a","b"],"n":2}')
    assert told(last.find(b'{"m":1,"messages":["a","b","c"],"n":2}')) == (2, (b'"c"',), None)
    other = {"m": b"1", "n": b"3"}
    assert told(last.find(b'{"m":1,"messages":["a","b","c"],"n":3}')) == (3, (), other)
    assert told(last.find(b'{"m":1,"messages":["a","x"],"n":3}')) == (1, (b'"x"',), None)
    assert last.raws == (b'"a"', b'"x"')


def test_what_was_forgotten_is_new() -> None:
    last = LastRequest()
    first = told(last.find(b'{"messages":["a"]}'))
    last.forget()
    assert told(last.find(b'{"messages":["a"]}')) == first == (0, (b'"a"',), {})


@pytest.mark.parametrize(("bad", "body"), [(b"3", b'{"messages":3}'), (b"", b"{}")])
def test_without_a_list_there_is_what_stands_in_its_place(bad: bytes, body: bytes) -> None:
    found = LastRequest().find(body)
    assert (told(found), found.bad) == ((0, None, {}), bad)


def test_a_text_is_a_message_where_the_wire_takes_one() -> None:
    last = LastRequest("input", text=lambda text: b"[%b]" % text)
    assert told(last.find(b'{"m":1,"input":"a"}')) == (0, (b'["a"]',), {"m": b"1"})
    assert told(last.find(b'{"input":"a","n":2}')) == (1, (), {"n": b"2"})
    assert told(last.find(b'{"input":[["a"],3],"n":2}')) == (1, (b"3",), {"n": b"2"})
    assert last.find(b'{"input":null}').bad == b"null"


@pytest.mark.parametrize(
    ("body", "error"), [(b"[]", NotAnObject), (b"{", ValueError), (b"[", ValueError)]
)
def test_what_is_no_object_is_no_request(body: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        LastRequest().find(body)
