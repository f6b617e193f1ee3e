"""Results are read whole, with any other bytes on the pipe of a worker."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engines.worker import ResultStream, new_token, write_result

PIECES = st.lists(st.tuples(st.booleans(), st.binary(max_size=300)), max_size=6)


@given(PIECES)
def test_each_result_is_read_and_all_else_is_passed_over(pieces: list[tuple[bool, bytes]]) -> None:
    ours, theirs = os.pipe()
    token = new_token()
    stream, read = ResultStream(ours, token), list[bytes]()
    for is_result, data in pieces:
        if is_result:
            write_result(theirs, token, data)
        elif data:
            os.write(theirs, data)
        while is_result and (len(read) < sum(r for r, _ in pieces) and _has_more(ours)):
            result = stream.take()
            read += [] if result is None else [result]
    os.close(theirs)
    os.close(ours)
    assert read == [data for is_result, data in pieces if is_result]


def _has_more(descriptor: int) -> bool:
    import select

    return bool(select.select([descriptor], [], [], 0)[0])


def test_a_length_that_a_target_has_written_waits_for_nothing() -> None:
    ours, theirs = os.pipe()
    os.write(theirs, b"\x7f\xff\xff\xff")
    token = new_token()
    stream = ResultStream(ours, token)
    assert stream.take() is None
    write_result(theirs, token, b"whole")
    assert stream.take() == b"whole"
    os.close(theirs)
    with pytest.raises(EOFError):
        stream.take()
    os.close(ours)
