"""What a reader saw of a transcript and did not understand: the reasons to doubt what it shows.

Programs name the results of tools in many ways. A result under a name that we do not know is read
as a message of the user, or not at all. Its call then looks unanswered, and nothing else in the
transcript tells that this is not so. So checks that rest on results are not asked where there is a
reason to doubt, and no transcript with one passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from harness.core.values.messages import Message, Opaque, ToolResult, ToolUse, side
from harness.recordings.pairing import Pairing, pair
from harness.recordings.session_log import not_understood
from harness.recordings.transcripts import Recording, Transcript

_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})

_TOOL = r"tool|function|action|command|shell"
_CALL = r"calls?|uses?|invocations?|requests?|runs?"
_RESULT = (
    r"results?|responses?|outputs?|returns?|outcomes?|errors?|messages?|observations?|end|ended"
    r"|completed?|finished|update"
)
_OF_A_TOOL = re.compile(rf"(?:{_TOOL})+(?:{_CALL})?(?:{_RESULT})?|observations?|environment")
_OF_ANYTHING = re.compile(r".*(?:result|output|response|observation)s?")
_MARKS = re.compile(r"[^a-z]+")

_KNOWN = frozenset({
    "tool_search_output", "search_result", "mcp_call", "server_tool_use", "server_tool_result",
    "mcp_tool_use", "mcp_tool_result",
})  # fmt: skip
"""Kinds whose names look like a call or a result of the agent. They are something else."""

_IN_TEXT = re.compile(
    r"\W*(?:(?:tool|function|command|action)\W+)?"
    r"(?:results?|outputs?|responses?|observations?)\b[^\n:]{0,80}:",
    re.IGNORECASE,
)
"""How a text of the user begins that is a result: `Observation:`, `Tool result for x:`."""

_BEGINNING = 200
"""The number of characters of a text in which the name of its tool stands, if it is a result:
`[read_file for 'a.py'] Result:`."""

_RESULT_WORD = re.compile(r"\b(?:results?|outputs?|responses?|returned|observations?)\b", re.I)


_CALLED = re.compile(r"\s*\[([A-Za-z_]{3,60})(?: for [\s\S]{0,300}?)?\] Result:")
"""How Cline and its kin begin the result of a call that the answer before it spells in XML."""

_FEW = 3
"""A program loses the results of one or two calls, by an interrupt or a crash. In a log of a known
format, this number of calls without any result is a shape that is not known."""

_SHARE = 0.1
"""The share of the calls of a session that may lack a result. The programs whose logs we read lose
fewer. A file that was cut or has a new shape loses more at once."""


@lru_cache(maxsize=256)
def is_of_a_tool(kind: str, role: str = "") -> bool:
    """Whether a kind of block, line or role that we do not know may be a call or a result.

    The provider runs tools itself and says so in the assistant's place, under names of many kinds.
    A log repeats few kinds on most of its lines.
    """
    plain = _MARKS.sub("", kind.lower())
    if kind in _KNOWN or not plain:
        return False
    if role != "assistant" and _OF_ANYTHING.fullmatch(plain):
        return True
    return plain.endswith("calloutput") or _OF_A_TOOL.fullmatch(plain) is not None


def with_doubts(recording: Recording) -> Recording:
    """The recording, each transcript with the reasons for which it may be read by half."""
    seen: dict[int, tuple[str, ...]] = {}
    doubtful = [
        (*recording.doubts, *one.unread, *_reasons(one, seen)) for one in recording.transcripts
    ]
    if not any(doubtful):
        return recording
    pairs = zip(recording.transcripts, doubtful, strict=True)
    told = (msgspec.structs.replace(one, unread=tuple(dict.fromkeys(why))) for one, why in pairs)
    return msgspec.structs.replace(recording, transcripts=tuple(told))


def _reasons(transcript: Transcript, seen: dict[int, tuple[str, ...]]) -> Iterator[str]:
    """`seen` holds what is strange in a message, which the calls of one session share."""
    shapes = Counter[str]()
    has_calls, results = False, 0
    for message in transcript.messages:
        strange = seen.get(id(message))
        if strange is None:
            strange = seen[id(message)] = tuple(_strange(message))
        if strange:
            shapes.update(strange)
        has_calls = has_calls or any(isinstance(block, ToolUse) for block in message.blocks)
        results += sum(isinstance(block, ToolResult) for block in message.blocks)
    yield from not_understood(shapes)
    if transcript.loose and not has_calls:
        yield from _calls_in_text(transcript.said)
        # Hermes and Qwen spell a call as text, `<tool_call>`, and keep its result in a role.
        if results and any(side(message) == "assistant" for message in transcript.messages):
            yield (
                f"no call is found for any result ({results} of them): the log may keep calls in "
                "a form that is not understood"
            )
    # A provider refuses a request in which a call has no result, so an exchange shows true ones.
    if has_calls and transcript.roles and (transcript.loose or not transcript.exchange):
        yield from _without_results(transcript, pair(transcript))


def _strange(message: Message) -> Iterator[str]:
    if message.role not in _ROLES:
        yield f"the role {message.role[:40]!r}"
    for block in message.blocks:
        if isinstance(block, Opaque) and block.kind == "malformed":
            yield "a malformed message"
        elif isinstance(block, Opaque) and is_of_a_tool(block.kind, side(message)):
            yield f"the block {block.kind[:40]!r}"


def _calls_in_text(said: Sequence[Message]) -> Iterator[str]:
    """The doubt about answers that spell a call as XML, with its result in the next text."""
    found = 0
    for answer, told in pairwise(said):
        name = _CALLED.match(told.text) if side(told) != "assistant" else None
        found += name is not None and f"<{name[1]}>" in answer.text
    if found:
        yield f"calls that stand in texts of the assistant are not understood ({found} of them)"


def _without_results(transcript: Transcript, found: Pairing) -> Iterator[str]:
    """Reasons from calls that no result answers although something follows them."""
    said, calls = transcript.said, found.calls
    open_ = [call for call in calls if not call.answered and call.message < len(said) - 1]
    in_text = sum(_is_result(said[call.message + 1], call.use) for call in open_)
    few = 1 if transcript.loose else _FEW
    if in_text:
        yield f"results that stand in texts of the user are not understood ({in_text} of them)"
    elif len(open_) >= few and not any(call.answered for call in calls):
        yield (
            f"no result is found for any call ({len(open_)} of them): the log may keep results in "
            "a form that is not understood"
        )
    elif not transcript.loose and len(open_) >= few and len(open_) > len(calls) * _SHARE:
        yield (
            f"{len(open_)} of {len(calls)} calls have no result: the log may lack lines, or keep "
            "results in a form that is not understood"
        )


def _is_result(message: Message, use: ToolUse) -> bool:
    """Whether the message after a call is a text that gives its result."""
    if side(message) == "assistant":
        return False
    text = message.text[:_BEGINNING].lstrip()
    named = use.name.casefold() in text.casefold() and _RESULT_WORD.search(text) is not None
    return named or _IN_TEXT.match(text) is not None
