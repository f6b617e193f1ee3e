"""Signatures of ours that can be checked from a request alone.

A signature is base64 of a mark, a digest of each part and a keyed digest of those. It shows its
origin, its integrity and the changed part without memory of the answer.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from harness.core.values.messages import Json, canonical

_SIZE = 8

Part = bytes


def part(value: Json) -> Part:
    """The digest of one thing that a signature vouches for."""
    return hashlib.blake2b(canonical(value).encode(), digest_size=_SIZE).digest()


class Signer:
    """Signs in the name of one provider, whose signatures begin with its `mark`."""

    def __init__(self, mark: bytes, key: bytes) -> None:
        self.mark, self._key = mark, key
        self._prefix = base64.b64encode(mark[: len(mark) // 3 * 3]).decode()

    def seal(self, *parts: Part) -> str:
        """The signature over these parts."""
        body = b"".join(parts)
        return base64.b64encode(self.mark + body + self._mac(body)).decode()

    def is_ours(self, signature: str) -> bool:
        """Whether this package wrote the signature, or what is left of it."""
        return signature.startswith(self._prefix)

    def parts_of(self, signature: str) -> tuple[Part, ...] | None:
        """The parts that one of our signatures vouches for; None when it is not whole."""
        raw = decoded(signature)
        if raw is None:
            return None
        body, mac = raw[len(self.mark) : -_SIZE], raw[-_SIZE:]
        if len(body) % _SIZE or not body or self._mac(body) != mac:
            return None
        return tuple(body[at : at + _SIZE] for at in range(0, len(body), _SIZE))

    def _mac(self, body: bytes) -> bytes:
        return hashlib.blake2b(body, key=self._key, digest_size=_SIZE).digest()


def decoded(text: str) -> bytes | None:
    """The bytes of a base64 text; None for any other text."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
