"""The short ways through a request's bytes find what the whole body says."""

from __future__ import annotations

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from harness.providers.shared.request_memory import between, ends, shared, split
from tests.providers.anthropic.strategies import json_values, words

HEAD, TAIL = b'{"model":"m","messages":[', b'],"max_tokens":5}'

messages = st.fixed_dictionaries({"role": words, "content": json_values}) | json_values
lists = st.lists(messages.map(msgspec.json.encode), max_size=4)
splinters = st.sampled_from(
    [b",", b"]", b"}", b" ", b'"', b"\\ud83d", b"\xff", b"\xed\xa0\x80", b'],"model":[', b"{}", b""]
)


@given(lists, lists, splinters, st.integers(0, 200))
@example([], [b'{"a":1}'], b" ", 7)
@example([], [b'{"a":1}'], b" ", 0)
@example([], [b'{"a":1}'], b'],"model":[', 7)
def test_what_stands_between_is_what_the_whole_body_holds(
    old: list[bytes], new: list[bytes], splinter: bytes, at: int
) -> None:
    kept = HEAD + b",".join(old)
    added = b"," * bool(old and new) + b",".join(new)
    body = kept + added[:at] + splinter + added[at:] + TAIL
    found = between(body, len(kept), memoryview(TAIL), first=not old)
    assert found is not None or splinter
    if found is None:
        return
    raws, values = found
    whole = split(body)
    assert whole.messages == (*old, *raws)
    assert values == [msgspec.json.decode(raw) for raw in raws]
    assert whole.marks == (len(HEAD), *ends(whole.messages, len(HEAD)))


@given(lists, lists, st.integers(0, 4), st.booleans())
@example([b"1", b"2"], [b"3"], 1, True)
@example([b"1", b"2", b"3", b"4"], [b"5"], 2, True)
def test_as_many_messages_are_shared_as_both_bodies_begin_with(
    old: list[bytes], new: list[bytes], keep: int, same_head: bool
) -> None:
    marks = [len(HEAD), *ends(tuple(old), len(HEAD))]
    prefix = HEAD + b",".join(old)
    body = (HEAD if same_head else HEAD.upper()) + b",".join(old[:keep] + new) + TAIL
    counts = [n for n, mark in enumerate(marks) if body.startswith(prefix[:mark])]
    assert shared(body, memoryview(prefix), marks) == max(counts, default=-1)
