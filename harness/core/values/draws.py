"""Randomness, drawn by name.

Each draw has a generator keyed by the seed, the drawing part and the call. So a new fault changes
no other draw, and a seed gives the same draws on every machine and with every `PYTHONHASHSEED`.
"""

from __future__ import annotations

import random
import string
from binascii import b2a_base64
from hashlib import blake2b

Generator = random.Random

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
_BASE64 = string.ascii_letters + string.digits + "+/"
_LETTERS = bytes.maketrans(_BASE64.encode(), (_ALPHABET + _ALPHABET[:7]).encode())


class Draws:
    """The draws of one run."""

    def __init__(self, seed: int) -> None:
        self.seed, self._seed = seed, str(seed)

    def _key(self, *names: str) -> bytes:
        text = "\x1f".join((self._seed, *names))
        return blake2b(text.encode(), digest_size=16).digest()

    def random(self, *names: str) -> random.Random:
        """A separate generator for `names`: equal names give equal draws."""
        return random.Random(int.from_bytes(self._key(*names), "big"))

    def identifier(self, prefix: str, *names: str) -> str:
        """An id in the shape that providers use: the prefix and 24 letters or digits."""
        letters = b2a_base64(self._key(prefix, *names))[:22].translate(_LETTERS)
        return f"{prefix}01{letters.decode()}"
