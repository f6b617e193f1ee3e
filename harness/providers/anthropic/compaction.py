"""Signed summaries: the first block of a conversation, in place of what it sums up.

A request with the field `compaction` gets one such block; a script's plain text is its content. A
returned block must be first, unchanged and the only one with content; null content is a failed
summary. Unsigned blocks come from the older context edit, at any place, and are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Block, Json, Message, Opaque
from harness.core.values.plans import Reply
from harness.providers.anthropic.record import violation
from harness.providers.anthropic.thinking import SIGNER
from harness.providers.shared.signatures import part

KIND = "compaction"


def summary_of(reply: Reply) -> Reply:
    """A reply as the answer to a request for a summary: its text as a block, if it has none."""
    if any(isinstance(block, Opaque) and block.kind == KIND for block in reply.blocks):
        return reply
    text = Message("assistant", reply.blocks).text
    if not text or reply.stop != "end_turn":
        return reply
    block = Opaque(KIND, {"type": KIND, "content": text, "tool_changes": []})
    return msgspec.structs.replace(reply, blocks=(block,), stop=KIND)


def signed(block: Block) -> Block:
    """A summary as the provider gives it: with its signature. Any other block as it is."""
    if not (isinstance(block, Opaque) and block.kind == KIND) or "signature" in block.value:
        return block
    value = {"encrypted_content": None, **block.value}
    return Opaque(KIND, {**value, "signature": SIGNER.seal(*_parts(value))})


def is_summary(block: Block) -> bool:
    """Whether a block is a signed summary that says something."""
    if not (isinstance(block, Opaque) and block.kind == KIND):
        return False
    return block.value.get("content") is not None and bool(block.value.get("signature"))


def misplaced(index: int, message: Message, *, before: bool, summaries: int) -> Iterator[Violation]:
    """Summaries of a message that are not the first block, or not the only ones, or changed.

    `before`: something stands before the message; `summaries` is how many do.
    """
    for m, block in enumerate(message.blocks):
        if not is_summary(block):
            continue
        assert isinstance(block, Opaque)
        if summaries:
            yield violation("compaction_block_ambiguous", n=index, m=m)
        elif before or m or message.role == "system":
            yield violation("compaction_block_misplaced", n=index, m=m)
        summaries += 1
        if rule := _flaw(block.value):
            yield violation(rule, n=index, m=m)


def _flaw(value: dict[str, Json]) -> str:
    signature = value["signature"]
    if not isinstance(signature, str):
        return "compaction_signature_invalid"
    if not SIGNER.is_ours(signature):
        return ""
    parts = SIGNER.parts_of(signature)
    if parts is None:
        return "compaction_signature_invalid"
    content, changes = _parts(value)
    if parts[0] != content:
        return "compaction_content_mismatch"
    return "" if parts[1] == changes else "compaction_tool_changes_mismatch"


def _parts(value: dict[str, Json]) -> tuple[bytes, bytes]:
    return part(value.get("content")), part(value.get("tool_changes"))


def unanswerable(last: Message | None, *, unfinished: bool) -> Iterator[Violation]:
    """What is wrong with a request for a summary of a list that ends with the message `last`."""
    if last is None:
        yield violation("compaction_nothing_to_summarize")
    elif unfinished:
        yield violation("compaction_incomplete_turn")
