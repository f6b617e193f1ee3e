"""The readers of all wires: the memory of the last request changes nothing but `keep`."""

from __future__ import annotations

import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.ports import Reading
from harness.core.values.messages import Message, user
from harness.providers.shared.request_memory import Layout, split
from tests.providers.requests import COMPACT, FORMATS, WIRES, WireRequests, bodies

WINDOW = 60

of_each_wire = pytest.mark.parametrize("requests", WIRES, ids=lambda requests: requests.wire)


def apart(reading: Reading) -> dict[str, Any]:
    """The reading without what depends on its reader's memory."""
    fields = msgspec.structs.asdict(reading)
    return {k: v for k, v in fields.items() if k not in {"keep", "added", *_MEMORIES}}


_MEMORIES = ("bindings", "turn", "place")
"""What a wire's own readings know of the session."""


def read_alike(requests: WireRequests, dialect: str, asked: list[bytes]) -> None:
    """One reader reads all requests as a fresh one reads each."""
    reader = requests.reader(dialect, WINDOW)
    before: tuple[Message, ...] = ()
    for body in asked:
        reading = reader.read(body)
        assert apart(reading) == apart(requests.reader(dialect, WINDOW).read(body))
        assert tuple(reading.messages[: reading.keep]) == before[: reading.keep]
        assert tuple(reading.messages[reading.keep :]) == reading.added
        before = tuple(reading.messages)


@of_each_wire
@given(st.data())
def test_one_reader_for_all_reads_as_a_fresh_one_for_each(
    requests: WireRequests, data: st.DataObject
) -> None:
    dialect = data.draw(st.sampled_from(requests.dialects))
    read_alike(requests, dialect, data.draw(bodies(requests)))


M = b'{"role":"user","content":"a"}'
PAD = b" " * (len(M) + 1)
SAME_LENGTH = (
    b'{%b"LIST":[%b,%b]}' % (PAD, M, M),
    b'{"LIST":[%b,%b%b]}' % (M, PAD, M),
    b'{"a":1,"a":%b,"LIST":[%b,%b]}' % (b"1" * (len(M) - 4), M, M),
)


@of_each_wire
@pytest.mark.parametrize("body", SAME_LENGTH)
def test_what_is_as_long_as_an_entry_is_none(requests: WireRequests, body: bytes) -> None:
    read_alike(requests, "", [body.replace(b"LIST", requests.listed.encode())] * 2)


GLUE = (b",", b"]", b",]", b" ]", b" ,", b", ", b"", b"}", b"],", b'],"LIST":[', b"]}")
TAILS = (b"", M, M + b"]", M + b",", b'"model":"z"', b'"model":"z","LIST":[]', b'"stream":3')
ENDS = (b"", b"}", b"]}", b',"max_tokens":5}', b'],"max_tokens":5}')


@of_each_wire
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_whatever_follows_the_shared_part_is_read_as_it_stands(
    requests: WireRequests, count: int
) -> None:
    start, listed = b'{"model":"m","LIST":[', requests.listed.encode()
    first = start + b",".join([M] * 3) + b'],"max_tokens":5}'
    for parts in itertools.product(GLUE, TAILS, ENDS):
        second = start + b",".join([M] * count) + b"".join(parts)
        asked = [body.replace(b"LIST", listed) for body in (first, second)]
        read_alike(requests, "", asked * 2)


@of_each_wire
@given(st.data())
def test_a_request_that_extends_the_last_keeps_all_of_it(
    requests: WireRequests, data: st.DataObject
) -> None:
    messages = data.draw(requests.histories(min_rounds=1))
    end = data.draw(st.integers(1, len(messages)))
    again = data.draw(st.integers(1, len(messages)))
    reader = requests.reader()
    reader.read(requests.body(messages[:end]))
    assert reader.read(requests.body(messages)).keep == end
    assert reader.read(requests.body(messages[:again])).keep == again


@of_each_wire
@given(st.data())
def test_a_request_that_differs_keeps_what_it_shares(
    requests: WireRequests, data: st.DataObject
) -> None:
    messages = data.draw(requests.histories(min_rounds=1))
    at = data.draw(st.integers(0, len(messages) - 1))
    other = [*messages[:at], Message("system", user("else").blocks), *messages[at + 1 :]]
    for layout in (COMPACT, {"indent": 1}):
        reader = requests.reader()
        reader.read(requests.body(messages, layout))
        assert reader.read(requests.body(other, layout)).keep == at


@of_each_wire
def test_only_what_is_new_is_decoded(
    requests: WireRequests, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def counted(body: bytes, listed: str) -> Layout:
        sizes.append(len(body))
        return split(body, listed)

    monkeypatch.setattr("harness.providers.shared.request_memory.split", counted)
    reader, messages = requests.reader(), [user("x" * 1000)] * 50
    reader.read(requests.body(messages))
    assert reader.read(requests.body([*messages, user("y")])).keep == 50
    assert reader.read(requests.body([*messages, user("z")])).keep == 50
    last = requests.body([*messages, user("z"), user("z")])
    assert reader.read(last[:-1] + b',"a":1}').keep == 51
    assert sizes[0] > 50_000
    assert sum(sizes[1:]) < 1_000


@of_each_wire
@given(st.lists(st.tuples(st.text(max_size=5), st.booleans()), max_size=4))
def test_the_token_count_does_not_depend_on_the_layout(
    requests: WireRequests, extra: list[tuple[str, bool]]
) -> None:
    fields = {requests.listed: requests.entries([user("ä🙂 x")]), "metadata": extra}
    asked = [json.dumps(fields, **layout).encode() for layout in FORMATS]
    assert len({requests.reader().read(body).tokens for body in asked}) == 1
