"""Results on the pipe of a worker, told from any other bytes that are written there.

The target plays in the worker, and may write on any descriptor. So each result begins with a token
of this pipe that only the worker knows, and all other bytes are skipped. The owner never waits for
the rest of a result: a length that a target has written would let it wait without end.
"""

from __future__ import annotations

import os
import select
import struct

TOKEN_BYTES = 16
_LENGTH = struct.Struct("!Q")
_HEAD_BYTES = TOKEN_BYTES + _LENGTH.size
_CHUNK_BYTES = 1 << 18


def new_token() -> bytes:
    """Return the token of a new pipe."""
    return os.urandom(TOKEN_BYTES)


def write_result(descriptor: int, token: bytes, result: bytes) -> None:
    """Write a whole result. Raises OSError after the reading end was closed."""
    left = memoryview(token + _LENGTH.pack(len(result)) + result)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:  # the target has made the descriptor one that does not wait
            select.select([], [descriptor], [])


class ResultStream:
    """The reading end of a worker's pipe."""

    def __init__(self, descriptor: int, token: bytes) -> None:
        self._descriptor, self._token = descriptor, token
        self._read = bytearray()

    def take(self) -> bytes | None:
        """Read once, and return the next result if it is whole; call it when there is something.

        Raises EOFError or OSError at the end of the pipe.
        """
        data = os.read(self._descriptor, _CHUNK_BYTES)
        if not data:
            raise EOFError
        self._read += data
        return self._whole()

    def _whole(self) -> bytes | None:
        begin = self._read.find(self._token)
        if begin < 0:
            del self._read[: -TOKEN_BYTES + 1]  # the end may be the beginning of a token
            return None
        del self._read[:begin]
        if len(self._read) < _HEAD_BYTES:
            return None
        end = _HEAD_BYTES + _LENGTH.unpack_from(self._read, TOKEN_BYTES)[0]
        if len(self._read) < end:
            return None
        result = bytes(self._read[_HEAD_BYTES:end])
        del self._read[:end]
        return result
