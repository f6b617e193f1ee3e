"""The images of a message that stand there as base64: their bytes, and their edges in pixels."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.messages import Json, Message, Opaque, ToolResult
from harness.core.values.pictures import base64_pixels

BYTES_MAX = 5 * 1024 * 1024
EDGE_MAX, EDGE_MAX_OF_MANY, MANY = 8000, 2000, 20
"""The longest edge in a request of up to `MANY` images, and in one of more."""


def images(index: int, message: Message) -> Iterator[tuple[str, str]]:
    """The images of a message, as their paths and their base64 text."""
    for m, block in enumerate(message.blocks):
        path = f"messages.{index}.content.{m}"
        if isinstance(block, Opaque):
            yield from _image(path, block.value)
        elif isinstance(block, ToolResult) and not isinstance(block.content, str):
            for k, part in enumerate(block.content):
                if isinstance(part, Opaque):
                    yield from _image(f"{path}.tool_result.content.{k}", part.value)


def _image(path: str, value: dict[str, Json]) -> Iterator[tuple[str, str]]:
    match value:
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            yield path, data


def size_bytes(data: str) -> int:
    """How many bytes a base64 text stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def edge(data: str) -> int:
    """The longer edge of an image in pixels, 0 when it cannot be read."""
    return max(base64_pixels(data) or (0,))
