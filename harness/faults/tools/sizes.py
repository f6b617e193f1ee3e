"""The tool returns too much: text, parts or images. What is too much for a request, the wire says.

An image of the Anthropic API has at most 5 MB and a request at most 100 of them.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Answer, Plan, ToolAnswer
from harness.faults.tools.answers import answering, effects

STAGE = "value"

SEAMS = ("tool",)

CODES = {
    "huge": ("X4", "X18", "C13"),
    "many_parts": ("X4",),
    "endless": ("X4",),
    "image_too_big": ("X6",),
    "many_images": ("X6",),
}

MAX_BYTES = 100_000_000

Bytes = Annotated[int, msgspec.Meta(ge=1, le=MAX_BYTES)]
Parts = Annotated[int, msgspec.Meta(ge=1, le=100_000)]


def huge(moment: Moment, plan: Plan, *, size_bytes: Bytes = 1_000_000) -> Plan:
    """The tool, or a sub-agent, returns a text of `size_bytes`; escalating, twice as much."""
    return answering(plan, "x" * min(size_bytes * moment.harder, MAX_BYTES))


def many_parts(moment: Moment, plan: Plan, *, count: Parts = 10_000) -> Plan:
    """The tool returns `count` small content blocks."""
    return answering(plan, [{"type": "text", "text": f"line {n}"} for n in range(count)])


def endless(moment: Moment, plan: Plan) -> Plan:
    """The tool returns an iterator of texts that has no end; over HTTP, one piece of it."""
    return (*effects(plan), Answer(ToolAnswer("and so on\n", how="endless")))


def image_too_big(moment: Moment, plan: Plan, *, size_bytes: Bytes = 7_000_000) -> Plan:
    """The tool returns one image whose base64 text has `size_bytes`: by default more than the 5 MiB
    that providers take, once it is decoded."""
    return answering(plan, [_image("A" * (size_bytes // 4 * 4))])


def many_images(moment: Moment, plan: Plan, *, count: Parts = 120) -> Plan:
    """The tool returns `count` small images."""
    return answering(plan, [_image(_DOT) for _ in range(count)])


def _image(data: str) -> dict[str, Json]:
    source: dict[str, Json] = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


_DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
"""A PNG of one pixel."""
