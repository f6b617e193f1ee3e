"""Text that can be stored and sent: no lone surrogates.

Half an emoji arrives when a provider splits one between two pieces of a stream; the SDK keeps both
halves as they come. Neither SQLite nor the SDK can write them.
"""

from __future__ import annotations

from harness.core.values.messages import Json


def clean(text: str) -> str:
    """The text with split pairs joined and what remains of halves replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_json(value: Json) -> Json:
    """A JSON value with all its texts clean."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean_json(key): clean_json(inner) for key, inner in value.items()}
        case list() | tuple():
            return [clean_json(inner) for inner in value]
    return value
