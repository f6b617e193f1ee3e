"""The one encoder of all that the harness writes: a value becomes bytes or a line here only.

Agents, models, tools and files say what no file can hold: secrets, half of a surrogate pair, values
that JSON has no word for, megabytes in one message. A writer that encodes by itself ends its
command at the first such text, so `tests/test_writers.py` allows none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from harness.core.history.event_log import encode_event
from harness.core.history.events import AnyEvent
from harness.core.values.messages import Json, builtin, mapped_texts, printable
from harness.core.values.visible_text import ESCAPES
from harness.redaction.masking import mask, mask_line
from harness.redaction.secret_patterns import spans

REPORTED_MOST_CHARS = 20_000
"""The most characters of one text in a report or a verdict; the history holds the whole text."""

# A secret that begins before the cut is masked whole if it is not longer than this. The longest of
# the known shapes is a private key of 4,096 bits, with 3.3 kB of base64.
_BEYOND_CHARS = 4_096

_DEPTH_MAX = 200
"""How deep the value of a report may nest. msgspec and Python's own stack stop near 1,000."""

_Reported = TypeVar("_Reported", bound=msgspec.Struct)
_encode = msgspec.json.Encoder(enc_hook=builtin).encode


class Encoded(str):
    """A text that has passed through here, which no writer masks again."""

    __slots__ = ()


def encoded(text: str) -> bytes:
    """A text in UTF-8 as it is; half of a surrogate pair becomes its escape."""
    return text.encode("utf-8", ESCAPES)


def text_bytes(text: str) -> bytes:
    """The content of a text file, without secrets."""
    return encoded(mask(text))


def shown(text: str) -> str:
    """A text for a terminal or a report, without secrets; one that was encoded stays as it is."""
    return text if isinstance(text, Encoded) else encoded(mask(text)).decode()


def json_bytes(value: Json) -> bytes:
    """A value as JSON on one line, without secrets.

    What JSON cannot say becomes text: an unknown object, a key, what is nested too deeply.
    """
    try:
        return mask_line(_encode(value))
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError, OverflowError):
        return mask_line(_encode(_sayable(value)))


def json_line(value: Json) -> Encoded:
    """A value as a line of JSON, for a terminal."""
    return Encoded(json_bytes(value).decode())


def own_line(value: Json) -> Encoded:
    """A value of our own making as a line of JSON, whole: the URLs and dummy keys of a run."""
    return Encoded(_encode(_sayable(value)).decode())


def json_document(value: Json) -> bytes:
    """A value as a file of JSON for readers: indented, without secrets."""
    return msgspec.json.format(json_bytes(value)) + b"\n"


def event_line(event: AnyEvent) -> bytes:
    """An event as the line of a history, without secrets and with the line's end."""
    return mask_line(encode_event(event)) + b"\n"


def reported(value: _Reported) -> _Reported:
    """A struct as reports show it: every text in it without secrets and of bounded length.

    Reports wrap and cut texts, and no pattern finds a secret that was cut. So the values are masked
    before a report is laid out.
    """
    return with_texts(value, _bounded)


def with_texts(value: _Reported, change: Callable[[str], str]) -> _Reported:
    """A struct in which each text is what `change` makes of it."""
    plain = msgspec.to_builtins(value)
    said = mapped_texts(plain, change)
    return value if said == plain else msgspec.convert(said, type(value), str_keys=True)


def _bounded(text: str) -> str:
    left = len(text) - REPORTED_MOST_CHARS
    kept = shown(beginning(text, REPORTED_MOST_CHARS))
    return f"{kept}… ({left} more characters)" if left > 0 else kept


def beginning(text: str, most_chars: int) -> str:
    """The first characters of a text, without secrets; it ends before a secret at the cut."""
    if len(text) <= most_chars:
        return mask(text)
    seen = spans(text[: most_chars + _BEYOND_CHARS])
    cut = next((span.start for span in seen if span.start < most_chars < span.end), most_chars)
    return mask(text[:cut])


def _sayable(value: Json, depth: int = 0) -> Json:
    """The value as JSON can say it."""
    if depth > _DEPTH_MAX and isinstance(value, (dict, list, tuple, msgspec.Struct)):
        return "(nested too deeply to be written)"
    match value:
        case msgspec.Struct():
            return _sayable(msgspec.to_builtins(value, enc_hook=_said), depth)
        case dict():
            return {_key(key): _sayable(item, depth + 1) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_sayable(item, depth + 1) for item in value]
        case str():
            return printable(value)
        case None | bool() | int() | float():
            return value
    return printable(_said(value))


def _key(key: object) -> str:
    return str(printable(key if isinstance(key, str) else _said(key)))


def _said(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return f"({type(value).__name__}: its text raises)"
