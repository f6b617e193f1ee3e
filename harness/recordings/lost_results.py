"""Results that a log lacks, and that its program sent to the model all the same.

A crash loses the result of the call that ran. The log keeps the hole, and some programs fill it
when they send the session again: the request holds a result, and the file never does. Judged as it
stands, such a log accuses its program of a request that was not made. Sources: openai/codex,
core/src/context_manager/normalize.rs (`ensure_call_outputs_present`); badlogic/pi-mono, packages/ai
(`transformMessages`); Claude Code, `ensureToolResultPairing`. Counts show the log as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from harness.core.values.messages import Block, Message, ToolResult, side
from harness.recordings.pairing import CallFound, Pairing
from harness.recordings.transcripts import Transcript


def with_lost_results(transcript: Transcript, found: Pairing) -> Transcript:
    """The transcript with the results that its program sent and did not log; itself without any.

    One that may be read by half stays as it is: its results may stand there unread.
    """
    lost = {} if transcript.unread or not transcript.lost_result else _lost(transcript, found.calls)
    if not lost:
        return transcript
    messages = list(transcript.messages)
    for at, results in lost.items():
        # In the message that follows, not before it: stops, restarts and failures count messages.
        messages[at] = Message(messages[at].role, (*results, *messages[at].blocks))
    return msgspec.structs.replace(transcript, messages=tuple(messages))


def _lost(transcript: Transcript, calls: Sequence[CallFound]) -> dict[int, list[Block]]:
    """The results that are missing, by the message after their call; a last call may still run."""
    found: dict[int, list[Block]] = {}
    left = [call for call in calls if not call.answered]
    if not left:
        return found
    said = [n for n, one in enumerate(transcript.messages) if side(one) != "system"]
    sent = dict(pairwise(said))
    for call in left:
        at = sent.get(said[call.message])
        if at is not None and (at in found or _was_filled(transcript, at)):
            found.setdefault(at, []).append(ToolResult(call.use.id, transcript.lost_result))
    return found


def _was_filled(transcript: Transcript, at: int) -> bool:
    """Whether the request with message `at`, which follows the call, held a result for it.

    A refusal tells that it did not: Claude Code of 2025 sent the hole, and each later prompt
    of the session got status 400 (anthropics/claude-code#1831).
    """
    messages = transcript.messages
    if side(messages[at]) == "assistant":
        return False
    answers = (n for n in range(at, len(messages)) if side(messages[n]) == "assistant")
    return next(answers, None) not in transcript.failures
