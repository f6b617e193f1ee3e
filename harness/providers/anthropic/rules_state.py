"""What the API refuses where it keeps state for a client: threads, and signed summaries.

Each of these has an error code, and the official SDK acts on the code: on the first three it sends
the whole history as a new thread, on `thread_unsupported_request` it goes on without threads. Types
and codes are those of the SDK; the texts are ours, close to what its types say of each.
`thread_continue_in_flight` is not judged: a call is decided at once, so none is ever in flight
while another is read; a fault says it. The same goes for `compaction_too_many_tool_references`.
"""

from __future__ import annotations

from harness.providers.anthropic.rule import NEW, OLD, STRICT, USUAL, Rule

SERVED = NEW | {"lenient"}
"""Where there are threads: without them, a turn that continues one cannot be read."""

_SDK = "SDK types; text unconfirmed"


def _row(code: str, text: str, dialects: frozenset[str] = USUAL, status: int = 400) -> Rule:
    kind = "not_found_error" if status == 404 else "invalid_request_error"
    return Rule(code, dialects, "S", _SDK, text, status, kind, code)


STATE_RULES = (
    _row(
        "thread_not_found",
        "thread: no usable thread state was found for `previous_message_id` {id}. Replay the full "
        'conversation with `thread: {{"type": "create"}}`.',
        SERVED,
        404,
    ),
    _row(
        "thread_already_continued",
        "thread: the response {id} has already been continued. Continue from the thread's most "
        "recent response.",
        SERVED,
    ),
    _row(
        "thread_fingerprint_mismatch",
        "thread: {names} must stay as stored with the thread. Send the stored values, or replay "
        'the full conversation with `thread: {{"type": "create"}}`.',
        SERVED,
    ),
    _row(
        "thread_unsupported_request",
        "thread: threads are not supported for this request. Send the full conversation without "
        "`thread`.",
        OLD | STRICT,
    ),
    _row(
        "compaction_nothing_to_summarize",
        "compaction: `messages` holds nothing to summarize",
    ),
    _row(
        "compaction_incomplete_turn",
        "compaction: the conversation ends on an `assistant` turn that is not finished",
    ),
    _row(
        "compaction_block_misplaced",
        "messages.{n}.content.{m}: a `compaction` block must be the first block of the "
        "conversation",
    ),
    _row(
        "compaction_block_ambiguous",
        "messages.{n}.content.{m}: more than one `compaction` block with content. Send only the "
        "one that was returned last.",
    ),
    _row(
        "compaction_signature_invalid",
        "messages.{n}.content.{m}: Invalid `signature` in `compaction` block",
    ),
    _row(
        "compaction_content_mismatch",
        "messages.{n}.content.{m}: the `content` of the `compaction` block differs from what its "
        "`signature` recorded",
    ),
    _row(
        "compaction_tool_changes_mismatch",
        "messages.{n}.content.{m}: the `tool_changes` of the `compaction` block differ from what "
        "was returned with it",
    ),
)
