"""Recorded calls of one agent loop, as one session.

A loop sends its whole history with each call. A call is part of a session when a later request
begins with its messages and repeats what it answered. Judging both would tell each finding twice.
Nothing is lost: the answer was whole, and all else in both requests is equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import msgspec

from harness.core.values.messages import Message, side
from harness.recordings.transcripts import Transcript


def leading_exchanges(
    transcripts: Sequence[Transcript], chosen: Transcript
) -> tuple[Transcript, ...]:
    """The exchanges that led to the chosen one, and it: their requests are beginnings of it."""
    if not chosen.exchange:
        return (chosen,)
    requests = ((one, request_of(one)) for one in transcripts if one.exchange)
    return tuple(one for one, asked in requests if asked and _begins_with(chosen.messages, asked))


def request_of(exchange: Transcript) -> tuple[Message, ...]:
    """The messages of an exchange without its answer."""
    return exchange.messages[: len(exchange.messages) - exchange.answered]


def sessions(transcripts: Iterable[Transcript]) -> tuple[Transcript, ...]:
    """The transcripts, without exchanges that are the beginning of a later one.

    That one takes over their stop reasons, and what they really answered. It keeps its name, by
    which a file holds it.
    """
    found: list[Transcript] = []
    parts: set[int] = set()
    ended: dict[Hashable, int] = {}
    for number, one in enumerate(transcripts):
        before = _begun(one, found, ended) if one.exchange else None
        if before is not None:
            parts.add(before)
            one = _continued(found[before], one)
        found.append(one)
        if _is_whole(one):
            ended[_mark(_beginning(one), len(one.messages), one.messages[-1])] = number
    return tuple(one for number, one in enumerate(found) if number not in parts)


def _continued(before: Transcript, one: Transcript) -> Transcript:
    at, answer = len(before.messages) - 1, before.messages[-1]
    said = {at: answer} if one.messages[at] != answer else {}
    return msgspec.structs.replace(
        one, stops={**before.stops, **one.stops}, answers={**before.answers, **said}
    )


def _begun(one: Transcript, found: Sequence[Transcript], ended: dict[Hashable, int]) -> int | None:
    """The longest exchange with which this one begins, by its number."""
    asked, beginning = request_of(one), _beginning(one)
    for length in range(len(asked), 1, -1) if ended else ():
        last = asked[length - 1]
        if side(last) != "assistant":
            continue
        number = ended.get(_mark(beginning, length, last))
        if number is not None and _goes_on(one, found[number]):
            return number
    return None


def _beginning(one: Transcript) -> Hashable:
    return tuple(message.text for message in one.messages[:2])


def _mark(beginning: Hashable, length: int, last: Message) -> Hashable:
    """What tells most lists apart: how they begin and end, and their length."""
    return beginning, length, last.text, tuple(use.id for use in last.tool_uses)


def _goes_on(later: Transcript, earlier: Transcript) -> bool:
    asked = request_of(earlier)
    repeated = later.messages[len(asked)]
    is_same = _begins_with(later.messages, asked) and _repeats(repeated, earlier.messages[-1])
    return is_same and _frame(later) == _frame(earlier)


def _repeats(repeated: Message, answer: Message) -> bool:
    """Whether a message repeats an answer; a client may leave out thoughts and marks."""
    calls, made = repeated.tool_uses, answer.tool_uses
    same = all(
        (a.id, a.name, a.input) == (b.id, b.name, b.input)
        for a, b in zip(calls, made, strict=False)
    )
    return same and len(calls) == len(made) and repeated.text == answer.text


def _frame(one: Transcript) -> tuple[object, ...]:
    """All of a request beside its messages."""
    limits = one.max_tokens, one.stream, one.stateful
    return one.wire, one.model, one.system, *limits, one.tools


def _begins_with(messages: tuple[Message, ...], beginning: tuple[Message, ...]) -> bool:
    return messages[: len(beginning)] == beginning


def _is_whole(one: Transcript) -> bool:
    ok = one.error is None and (one.status or 200) < 400
    return one.exchange and one.answered and one.complete and ok
