"""A token count that is the same everywhere: four bytes of compact JSON are one token.

The real tokenizer is not public; what matters to a test is that the count is deterministic, grows
with the prompt, and does not depend on white space, escapes or cache marks. So it is taken from
the values, not from the request's bytes, and is cumulative: a message is measured once.
"""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.providers.codec import encode

BYTES_PER_TOKEN = 4


def size_bytes(value: Json) -> int:
    """The size of a value as compact JSON, in bytes."""
    return len(encode(value))


def tokens(size: int) -> int:
    """The number of tokens in `size` bytes; whatever is sent costs at least one."""
    return max(1, size // BYTES_PER_TOKEN)
