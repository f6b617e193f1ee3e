"""Text that a careless reader of lines takes for several lines."""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Text
from harness.core.values.plans import Answer, Plan, Reply, Step

STAGE = "value"

SEAMS = ("model",)

CODES = {"line_separators": ("P6",)}

SEPARATORS = "\u2028\u2029\u0085\x0b\x0c\x1c"
"""What `str.splitlines` splits at, beside the line feed and the carriage return."""


def line_separators(moment: Moment, plan: Plan) -> Plan:
    """The model's text ends with each character that ends a line for some readers: U+2028, U+2029,
    U+0085, and control characters."""
    return tuple(map(_marked, plan))


def _marked(step: Step) -> Step:
    if not isinstance(step, Answer) or not isinstance(step.value, Reply):
        return step
    texts = [i for i, b in enumerate(step.value.blocks) if isinstance(b, Text) and b.text.strip()]
    if not texts:
        return step
    blocks = list(step.value.blocks)
    last = blocks[texts[-1]]
    assert isinstance(last, Text)
    blocks[texts[-1]] = msgspec.structs.replace(last, text=f"{last.text}{SEPARATORS}end")
    return Answer(msgspec.structs.replace(step.value, blocks=tuple(blocks)))
