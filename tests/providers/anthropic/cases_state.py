"""Cases of the rules of kept state: threads and signed summaries; with their legal kin."""

from __future__ import annotations

from harness.core.values.draws import Draws
from harness.core.values.messages import Json, Opaque, Text, assistant, user
from harness.core.values.plans import Reply
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.reply import write
from harness.providers.anthropic.request import AnthropicReader
from tests.providers.anthropic.bodies import CALL, A, Said, U, blocks, body, wire


def summary(**changes: Json) -> dict[str, Json]:
    """A signed summary, changed."""
    asked = body([user("a")], compaction={"type": "summarize"})
    reading = AnthropicReader(RECORD.dialects.default, None).read(asked)
    block = reading.complete(Reply((Text("so far"),))).blocks[0]
    assert isinstance(block, Opaque)
    return blocks({**block.value, **changes}, role=A)


GO = {"role": U, "content": "go on"}
ID = "msg_" + Draws(1).identifier("", "k")


def threaded(reader: AnthropicReader, *, twice: bool = False) -> str:
    """The id of an answer on a thread, which is continued already if `twice`."""
    reading = reader.read(body([user("a")], thread={"type": "create"}, system="s"))
    write(Reply((Text("b"),)), reading, "k", Draws(1))
    if twice:
        again = reader.read(more(ID))
        write(Reply((Text("d"),)), again, "l", Draws(1))
    return ID


def more(id_: str, **fields: Json) -> bytes:
    """A turn that continues a thread."""
    thread = {"type": "continue", "previous_message_id": id_}
    return body([user("c")], thread=thread, **fields)


BROKEN: dict[str, tuple[Said, str]] = {
    "thread_not_found": (
        more("msg_0"),
        "thread: no usable thread state was found for `previous_message_id` msg_0. Replay the "
        'full conversation with `thread: {"type": "create"}`.',
    ),
    "thread_already_continued": (
        lambda reader: more(threaded(reader, twice=True)),
        f"thread: the response {ID} has already been continued. Continue from the thread's most "
        "recent response.",
    ),
    "thread_fingerprint_mismatch": (
        lambda reader: more(threaded(reader), system="other"),
        "thread: `system` must stay as stored with the thread. Send the stored values, or replay "
        'the full conversation with `thread: {"type": "create"}`.',
    ),
    "thread_unsupported_request": (
        body([user("a")], thread={"type": "create"}),
        "thread: threads are not supported for this request. Send the full conversation without "
        "`thread`.",
    ),
    "compaction_nothing_to_summarize": (
        wire(compaction={"type": "summarize"}),
        "compaction: `messages` holds nothing to summarize",
    ),
    "compaction_incomplete_turn": (
        body([user("a"), assistant(CALL)], compaction={"type": "summarize"}),
        "compaction: the conversation ends on an `assistant` turn that is not finished",
    ),
    "compaction_block_misplaced": (
        wire(GO, summary(), GO),
        "messages.1.content.0: a `compaction` block must be the first block of the conversation",
    ),
    "compaction_block_ambiguous": (
        wire(summary(), GO, summary(), GO),
        "messages.2.content.0: more than one `compaction` block with content. Send only the one "
        "that was returned last.",
    ),
    "compaction_signature_invalid": (
        wire(summary(signature="bGgBbm90"), GO),
        "messages.0.content.0: Invalid `signature` in `compaction` block",
    ),
    "compaction_content_mismatch": (
        wire(summary(content="another"), GO),
        "messages.0.content.0: the `content` of the `compaction` block differs from what its "
        "`signature` recorded",
    ),
    "compaction_tool_changes_mismatch": (
        wire(summary(tool_changes=[{"type": "tool_removal"}]), GO),
        "messages.0.content.0: the `tool_changes` of the `compaction` block differ from what was "
        "returned with it",
    ),
}

LEGAL: dict[str, Said] = {
    "thread_not_found": lambda reader: more(threaded(reader)),
    "thread_already_continued": lambda reader: more(threaded(reader)),
    "thread_fingerprint_mismatch": lambda reader: more(threaded(reader), system="s"),
    "thread_unsupported_request": body([user("a")], thread=None),
    "compaction_nothing_to_summarize": wire(GO, compaction={"type": "summarize"}),
    "compaction_incomplete_turn": body(
        [user("a"), assistant("b")], compaction={"type": "summarize"}
    ),
    "compaction_block_misplaced": wire(summary(), GO),
    "compaction_block_ambiguous": wire(summary(), summary(content=None), GO),
    "compaction_signature_invalid": wire(summary(signature="foreign"), GO),
    "compaction_content_mismatch": wire(summary(), GO),
    "compaction_tool_changes_mismatch": wire(summary(), GO),
}
