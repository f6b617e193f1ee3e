"""Parts of a message: the wire's JSON objects and the core's values, both ways.

A part that is text is `Text`; its kind stands in `extra` where it is not the usual one of its side
(`input_text` from the user, `output_text` from the assistant), so that a refusal is text as well
and can be told. Any other part is `Opaque`.
"""

from __future__ import annotations

from harness.core.values.messages import Json, Opaque, Text

OUTPUT, INPUT, REFUSAL = "output_text", "input_text", "refusal"
ITEM = "message"
"""The key in a text's `extra` that says: a message item of its own begins here, with these fields
beside its parts."""

_TEXTS = {OUTPUT: "text", INPUT: "text", "text": "text", REFUSAL: "refusal"}
"""The kinds of parts that are text, and the field that holds it."""

PARTS = frozenset(
    {*_TEXTS, "input_image", "input_file", "input_audio", "output_audio", "computer_screenshot"}
)
"""All kinds of parts; what has none of these inside a message makes the whole item opaque."""

Part = Text | Opaque


def usual(role: str) -> str:
    """The kind of a text that a role says."""
    return OUTPUT if role == "assistant" else INPUT


def part_from(value: Json, role: str) -> Part | None:
    """A part as a value; None when it is none."""
    kind = value.get("type") if isinstance(value, dict) else None
    if kind not in PARTS:
        return None
    if kind not in _TEXTS:
        return Opaque(kind, value)
    text = value.get(_TEXTS[kind])
    if not isinstance(text, str):
        return None
    extra = {k: v for k, v in value.items() if k not in ("type", _TEXTS[kind]) and _says(k, v)}
    return Text(text, extra if kind == usual(role) else {"type": kind, **extra})


def _says(name: str, value: Json) -> bool:
    """Whether a field says anything: nulls and empty lists of annotations are not said."""
    return value is not None and not (name in ("annotations", "logprobs") and value == [])


def part_to(part: Part, role: str) -> dict[str, Json]:
    """A part as the wire writes it; what the assistant says always has annotations."""
    if isinstance(part, Opaque):
        return part.value
    kind = part.extra.get("type", usual(role))
    more = {k: v for k, v in part.extra.items() if k not in ("type", ITEM)}
    annotations: dict[str, Json] = {"annotations": []} if kind == OUTPUT else {}
    return {"type": kind, _TEXTS.get(kind, "text"): part.text, **annotations, **more}


def is_refusal(block: object) -> bool:
    """Whether a block is the assistant's refusal."""
    return isinstance(block, Text) and block.extra.get("type") == REFUSAL
