"""Bodies of the compact form: JSON as JSON, streams as events, requests as frame and messages.

The parts are cut from the bytes. An encoding is used only when it restores the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence

import msgspec

from harness.core.values.errors import InputError

MARK = b'"$messages"'
"""What stands in a frame in place of the list of messages."""

_LISTS = ("messages", "input", "contents")
_COMMAS = (b",", b", ")
_EVENT = re.compile(rb".*?(?:\r?\n){2,}|.+\Z", re.DOTALL)
_NOTHING = msgspec.Raw()
_DIGEST_LETTERS = 24
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])
_any = msgspec.json.Decoder()


class Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """A body kept in one of five ways; an empty body has all defaults.

    With a `frame`, the messages are the first `keep` of exchange number `after`, and those that
    `add` names; `comma` parts them.
    """

    json: msgspec.Raw = _NOTHING
    events: list[str] = []
    text: str = ""
    base64: str = ""
    frame: str = ""
    after: int = 0
    keep: int = 0
    add: list[str] = []
    comma: str = ","


def whole_body(body: bytes) -> Body:
    """A body, kept whole."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return Body(base64=base64.b64encode(body).decode())
    if _is_one_line_of_json(body):
        return Body(json=msgspec.Raw(body))
    if text.startswith(("event:", "data:", ":")):
        return Body(events=[event.decode() for event in _EVENT.findall(body)])
    return Body(text=text)


def _is_one_line_of_json(body: bytes) -> bool:
    if body[:1] not in b"{[" or body[-1:] not in b"}]" or b"\n" in body or b"\r" in body:
        return False
    try:
        _any.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return bool(body)


def body_bytes_of(body: Body) -> bytes:
    """The bytes of a body that was kept whole; raises InputError."""
    if json := bytes(body.json):
        return json
    if body.base64:
        try:
            return base64.b64decode(body.base64, validate=True)
        except ValueError:
            raise InputError("a body is not base64") from None
    return ("".join(body.events) or body.text).encode("utf-8", "surrogatepass")


class _Parts(msgspec.Struct, frozen=True):
    frame: bytes
    comma: bytes
    items: list[bytes]


def parts(body: bytes) -> _Parts | None:
    """A request's body taken apart; None when these parts would not give it back."""
    if not _is_one_line_of_json(body) or body[:1] != b"{":
        return None
    held = _fields.decode(body)
    name = next((name for name in _LISTS if bytes(held.get(name, b""))[:1] == b"["), None)
    if name is None:
        return None
    listed = bytes(held[name])
    items = [bytes(item) for item in _items.decode(listed)]
    comma = next((c for c in _COMMAS if b"[" + c.join(items) + b"]" == listed), None)
    before, _, after = body.partition(listed)
    frame = before + MARK + after
    if comma is None or frame.count(MARK) != 1 or not _is_marked(frame, name):
        return None
    return _Parts(frame, comma, items)


def _is_marked(frame: bytes, name: str) -> bool:
    try:
        return bytes(_fields.decode(frame)[name]) == MARK
    except (msgspec.MsgspecError, KeyError):
        return False


class RequestFramer:
    """Takes the requests of a file apart, one after the other, and knows what has been written.

    Which earlier request goes furthest along with a new one is found in a tree of digests: an
    edge is a place and a digest, and remembers the first request that went there.
    """

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()
        self._edges: dict[tuple[int, str], tuple[int, int]] = {}
        self.new_messages: list[tuple[str, bytes]] = []
        self.new_frames: list[tuple[str, bytes]] = []

    def take(self, body: bytes, number: int) -> Body:
        """The body of request `number`; what must be written before it is in `new_…`."""
        self.new_messages, self.new_frames = [], []
        found = parts(body)
        if found is None:
            return whole_body(body)
        names = [_digest(item) for item in found.items]
        for name, item in zip(names, found.items, strict=True):
            self._note("message", self.new_messages, name, item)
        frame = _digest(found.frame)
        self._note("frame", self.new_frames, frame, found.frame)
        after, keep = self._walk(names, number)
        comma = found.comma.decode()
        return Body(frame=frame, after=after, keep=keep, add=names[keep:], comma=comma)

    def _note(self, kind: str, new: list[tuple[str, bytes]], name: str, value: bytes) -> None:
        if (kind, name) not in self._known:
            self._known.add((kind, name))
            new.append((name, value))

    def _walk(self, names: Sequence[str], number: int) -> tuple[int, int]:
        """The request with the longest common prefix, and the length of that prefix."""
        place = after = keep = 0
        for depth, name in enumerate(names, start=1):
            edge = self._edges.get((place, name))
            if edge is None:
                edge = self._edges[place, name] = len(self._edges) + 1, number
            else:
                after, keep = edge[1], depth
            place = edge[0]
        return after, keep


def _digest(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()[:_DIGEST_LETTERS]


def unframed(
    body: Body,
    number: int,
    messages: dict[str, bytes],
    frames: dict[str, bytes],
    histories: dict[int, list[str]],
) -> bytes:
    """The bytes of request `number`, whose list of messages is noted in `histories`.

    Raises InputError when it names what does not stand before it.
    """
    if not body.frame:
        return body_bytes_of(body)
    if body.after and body.after not in histories:
        raise InputError(f"goes on from exchange {body.after}, which is not before it")
    names = histories[number] = histories.get(body.after, [])[: body.keep] + body.add
    try:
        before, after = frames[body.frame].split(MARK)
        listed = body.comma.encode().join([messages[name] for name in names])
    except KeyError as error:
        raise InputError(f"names {error.args[0]}, which is not before it") from None
    except ValueError:
        raise InputError(f"frame {body.frame} has no single {MARK.decode()}") from None
    return b"%b[%b]%b" % (before, listed, after)
