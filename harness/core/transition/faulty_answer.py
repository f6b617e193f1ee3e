"""Applies faults to the model's answer: first to its value, then to its bytes.

A byte fault may double blocks, lose the end of a stream, or use a frame that only an HTTP parser
reads. So the bytes are read after each such fault, and lost content stays lost. A value that no
such fault has touched is asked itself, and never read back.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import msgspec

from harness.core.history.exchanges import HTTP_TOO_LARGE
from harness.core.history.history import History
from harness.core.transition.arming import ArmedFault, bend_all
from harness.core.transition.cassette_answer import as_it_came, endings, parsed
from harness.core.transition.ports import Parsed, Provider, Reading
from harness.core.values.calls import Call
from harness.core.values.draws import Draws
from harness.core.values.messages import Text
from harness.core.values.plans import (
    Answer,
    ApiError,
    Head,
    Plan,
    Recorded,
    Reply,
    Send,
    Step,
    is_consumed,
    is_whole,
    until_timeout,
)

Said = Reply | ApiError | Recorded | None


class Bent(msgspec.Struct, frozen=True):
    """An answer after its faults: its plan, its content (`said`), the faults that changed it
    (`by`), and whether the script's turn is `consumed`. `cut`: the end of the content is missing.
    `said_all`: all content is present, although the connection breaks off after it. `heard` is the
    error in bytes that a fault has written or changed."""

    plan: Plan
    said: Said
    by: tuple[str, ...] = ()
    consumed: bool = True
    cut: bool = False
    said_all: bool = False
    heard: ApiError | None = None


def bend(
    wire: Provider,
    history: History,
    draws: Draws,
    faults: Sequence[ArmedFault],
    call: Call,
    reading: Reading,
    value: Reply | ApiError | Recorded,
) -> Bent:
    """Return the answer to a call after the faults that are due."""
    scripted: Plan = (Answer(value),)
    plan = _shown(wire, faults, value)
    shown, by = bend_all(faults, "value", call, history, draws, plan)
    bent = shown if by else scripted
    said, plan = _written(wire, draws, bent, reading, call.key)
    cut, by_value = False, by
    for fault in faults:
        plan, struck = bend_all([fault], "bytes", call, history, draws, plan)
        if struck:
            by += struck
            said, is_cut = _heard(wire, said, plan)
            cut |= is_cut
    plan = until_timeout(plan, call.timeout_ms)
    consumed = is_consumed(scripted + endings(bent), bent, plan)
    is_rewritten = said is None or by != by_value
    is_ended = isinstance(said, Reply) and not cut and not is_whole(plan)
    answer = read(wire, plan) if is_rewritten or is_ended else None
    said_all = is_ended and answer is not None and _is_all(answer[1])
    return Bent(plan, said, by, consumed, cut, said_all, _error(answer) if is_rewritten else None)


def _is_all(told: Parsed) -> bool:
    """Whether the bytes hold the terminal event of a reply. An error event behind the stop reason
    takes back nothing that a client has read; only an SDK that reads on raises it."""
    is_late = told.stop is not None and told.error is not None
    return told.message is not None and (told.complete or is_late)


def _error(answer: tuple[Head, Parsed] | None) -> ApiError | None:
    """The error of an answer, with the status that came."""
    if answer is None:
        return None
    status, told = answer[0].status, answer[1].error
    if status < 400:
        return told
    return msgspec.structs.replace(told or ApiError(status, "", ""), status=status)


def is_too_large(
    wire: Provider, said: Said, *, cut: bool = False, heard: ApiError | None = None
) -> bool:
    """Whether an answer refuses the request for its size.

    `said` is its value and `heard` the error in bytes of a fault. A wrapper's own message counts no
    token; one that is `cut` off does not count. A stop reason for size needs no words.
    """
    if isinstance(said, Reply) and not cut and said.usage and not any(said.usage.values()):
        return wire.says_size("".join(b.text for b in said.blocks if isinstance(b, Text)))
    error = said if isinstance(said, ApiError) else heard
    return error is not None and (error.status == HTTP_TOO_LARGE or wire.refuses_size(error))


def _shown(
    wire: Provider, faults: Sequence[ArmedFault], value: Reply | ApiError | Recorded
) -> Plan:
    """The value that faults see: the reply of a complete recording. If no fault changes it, the
    recorded bytes are sent."""
    if isinstance(value, Recorded) and not value.cut and any(f.stage == "value" for f in faults):
        said, _ = parsed(wire, value, (Send(value.body),))
        return (Answer(said or value),)
    return (Answer(value),)


def _written(
    wire: Provider, draws: Draws, plan: Plan, reading: Reading, key: str
) -> tuple[Said, Plan]:
    said: Said = None
    steps: list[Step] = []
    for step in plan:
        if isinstance(step, Answer):
            value = step.value
            assert isinstance(value, (Reply, ApiError, Recorded)), value
            value = reading.signed(value) if isinstance(value, Reply) else value
            said = said or value
            written = wire.write(value, reading, key, draws)
            steps.extend(as_it_came(value, written))
        else:
            steps.append(step)
    return said, tuple(steps)


def read(wire: Provider, plan: Plan) -> tuple[Head, Parsed] | None:
    """Head and content of the answer; None if it has no head. Broken framing ends the content."""
    sent = [step for step in plan if isinstance(step, Send)]
    body = b"".join([step.data for step in sent])
    head = sent[0].head if sent else None
    if head is None:
        found = _WRITTEN_HEAD.match(body)
        if found is None:
            return None
        head, body = _head(found), body[found.end() :]
    if head.headers.get("transfer-encoding") == "chunked":
        body = _from_chunks(body)
    if head.headers.get("content-encoding") == "gzip":
        body = _unpacked(body)
    return head, wire.parse(body, head.headers.get("content-type", ""))


_WRITTEN_HEAD = re.compile(
    rb"(?:HTTP/1\.1 1.*\r\n\r\n)*HTTP/1\.[01] ([2-5]\d\d) .*\r\n((?:.+\r\n)*)\r\n"
)
"""A head in the bytes of the answer, after informational ones."""


def _head(found: re.Match[bytes]) -> Head:
    lines = (line.partition(": ") for line in found[2].decode("latin-1").splitlines())
    return Head(int(found[1]), {name.lower(): value for name, _, value in lines})


_CHUNK = re.compile(rb"([0-9a-fA-F]+)\r\n")


def _from_chunks(data: bytes) -> bytes:
    """What the chunks hold, up to one that is malformed: a client has read what came before it."""
    body, at = b"", 0
    while (size := _CHUNK.match(data, at)) and int(size[1], 16):
        end = size.end() + int(size[1], 16)
        body += data[size.end() : end]
        at = end + 2
        if data[end:at] != b"\r\n":
            break
    return body


def _unpacked(data: bytes) -> bytes:
    """What can be unpacked. A plain body stays: a client that unpacks nothing reads all of it."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data)
    except zlib.error:
        return data


def _heard(wire: Provider, said: Said, plan: Plan) -> tuple[Said, bool]:
    """The reply in the changed bytes, and whether the connection ends before its last event."""
    answer = read(wire, plan) if isinstance(said, Reply) else None
    if answer is None or not isinstance(said, Reply):
        return said, False
    _, told = answer
    # The connection breaks: a client may have read any part, so the history keeps what was to come.
    if not is_whole(plan):
        return said, not (told.complete or _is_all(told))
    if told.message is None or not told.complete:
        return said, False
    usage = said.usage if told.usage else {}
    return Reply(told.message.blocks, told.stop, usage, said.extra), False
