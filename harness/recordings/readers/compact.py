"""The compact form of a cassette: JSON Lines with each message and frame once.

A file of whole requests grows with the square of the run. A frame is a request's body without its
messages; both keep the bytes of the body. The count in the last line reveals a torn file.

`{"kind":"cassette","version":1}` · `{"kind":"message","digest":…,"value":…}` ·
`{"kind":"frame","digest":…,"value":{…,"messages":"$messages",…}}` ·
`{"kind":"exchange","number":1,"method":…,"uri":…,"request":{"frame":…,"after":…,"keep":…,"add":[…]},
"status":200,"answer":{"json":…}}` · `{"kind":"end","exchanges":1}`
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.recordings import model_exchange
from harness.recordings.compact_bodies import (
    Body,
    RequestFramer,
    body_bytes_of,
    unframed,
    whole_body,
)
from harness.recordings.http_interaction import Cassette, Interaction, as_vcr, phrase
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording

VERSION = 1
_HEAD = b'{"kind":"cassette"'


class _CassetteLine(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True):
    pass


class _Opening(_CassetteLine, frozen=True, tag="cassette"):
    version: int
    metadata: dict[str, Json] = {}


class _MessageLine(_CassetteLine, frozen=True, tag="message"):
    digest: str
    value: msgspec.Raw


class _FrameLine(_CassetteLine, frozen=True, tag="frame"):
    digest: str
    value: msgspec.Raw


class _ExchangeLine(_CassetteLine, frozen=True, tag="exchange", kw_only=True, omit_defaults=True):
    """A request and its answer; `reason` stands only where it is not the standard one."""

    number: int
    method: str
    uri: str
    headers: dict[str, list[str]] = {}
    request: Body = Body()
    status: int
    reason: str | None = None
    answer_headers: dict[str, list[str]] = {}
    answer: Body = Body()
    more: dict[str, Json] = {}


class _End(_CassetteLine, frozen=True, tag="end"):
    exchanges: int


_Any = _Opening | _MessageLine | _FrameLine | _ExchangeLine | _End
_decoder: msgspec.json.Decoder[_Any] = msgspec.json.Decoder(_Any)
_encode = msgspec.json.Encoder().encode


def is_compact(data: bytes) -> bool:
    """Whether the bytes are meant as a cassette in the compact form."""
    head = data[:200].lstrip()
    return head.replace(b" ", b"").startswith(_HEAD)


def encode_cassette(cassette: Cassette) -> Iterator[bytes]:
    """The lines of the file, each with its end."""
    yield _encode(_Opening(VERSION, cassette.metadata)) + b"\n"
    framer, number = RequestFramer(), 0
    for number, item in enumerate(cassette.interactions, start=1):
        request = framer.take(item.request_body, number)
        for digest, value in framer.new_messages:
            yield _encode(_MessageLine(digest, msgspec.Raw(value))) + b"\n"
        for digest, value in framer.new_frames:
            yield _encode(_FrameLine(digest, msgspec.Raw(value))) + b"\n"
        yield _encode(_exchange_line(item, number, request)) + b"\n"
    yield _encode(_End(number)) + b"\n"


def _exchange_line(item: Interaction, number: int, request: Body) -> _ExchangeLine:
    return _ExchangeLine(
        number=number,
        method=item.method,
        uri=item.uri,
        headers=item.request_headers,
        request=request,
        status=item.status,
        reason=None if item.reason == phrase(item.status) else item.reason,
        answer_headers=item.response_headers,
        answer=whole_body(item.response_body),
        more=item.more,
    )


def decode_cassette(data: bytes) -> Cassette:
    """The cassette of a file; raises InputError with the line that is wrong.

    The interactions are put together as they are iterated, one at a time: all of them together are
    as large as the file would be that is not compact.
    """
    source = _Source(data)
    return Cassette(source, source.metadata)


class _Source:
    """Each pass over the interactions decodes them again."""

    def __init__(self, data: bytes) -> None:
        self._lines = [line for line in enumerate(data.split(b"\n"), start=1) if line[1].strip()]
        first = _line(*self._lines[0]) if self._lines else None
        if not isinstance(first, _Opening):
            raise InputError("the first line is not that of a cassette", "line 1")
        if first.version != VERSION:
            raise InputError(f"`version` is {first.version}: known is {VERSION}", "line 1")
        number, last = self._lines[-1]
        if not last.startswith(b'{"kind":"end"'):
            raise InputError("torn: the last line does not end the cassette", f"line {number}")
        self.metadata = first.metadata

    def __iter__(self) -> Iterator[Interaction]:
        messages: dict[str, bytes] = {}
        frames: dict[str, bytes] = {}
        histories: dict[int, list[str]] = {}
        seen = 0
        for number, text in self._lines[1:]:
            match _line(number, text):
                case _MessageLine(digest, value):
                    messages[digest] = bytes(value)
                case _FrameLine(digest, value):
                    frames[digest] = bytes(value)
                case _ExchangeLine() as found:
                    seen += 1
                    try:
                        body = unframed(found.request, found.number, messages, frames, histories)
                        answer = body_bytes_of(found.answer)
                    except InputError as error:
                        raise InputError(error.what, f"line {number}") from None
                    yield _interaction(found, body, answer)
                case _End(count) if count != seen:
                    what = f"torn: {seen} exchanges, where the last line counts {count}"
                    raise InputError(what, f"line {number}")


def _line(number: int, text: bytes) -> _Any:
    try:
        return _decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InputError(f"no line of a cassette: {error}", f"line {number}") from None


def _interaction(found: _ExchangeLine, body: bytes, answer: bytes) -> Interaction:
    return Interaction(
        method=found.method,
        uri=found.uri,
        request_headers=found.headers,
        request_body=body,
        status=found.status,
        reason=phrase(found.status) if found.reason is None else found.reason,
        response_headers=found.answer_headers,
        response_body=answer,
        more=found.more,
    )


@recognised_by(is_compact)
def compact(document: bytes) -> Recording:
    """cassette in the compact form.

    Raises InputError, with the line, for a file that is torn or malformed.
    """
    return model_exchange.recording(map(as_vcr, decode_cassette(document).interactions))
