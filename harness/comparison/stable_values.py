"""Values without the parts that are new in each run: UUIDs, times, loopback ports, scratch folders.

A text is replaced only if the whole text is such a value. A value that the model's call holds stays
unchanged: it comes from the scenario, so it is equal in both runs.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from harness.core.values.machine_names import LOOPBACK_HOSTS, SCRATCH_PREFIX
from harness.core.values.messages import Json

_UUID_DIGITS = (8, 4, 4, 4, 12)
_HEX = frozenset("0123456789abcdefABCDEF")
_NOTHING = object()


def stable(value: Json, asked: object = _NOTHING) -> Json:
    """The value with a placeholder for each text that is new in each run.

    `asked` is the value in the model's call; a part that is equal to it stays.

    >>> stable({"day": "2026-05-01", "at": "2026-05-01T10:00:00.5+00:00"}, {"day": "2026-05-01"})
    {'day': '2026-05-01', 'at': '<time>'}
    """
    if value == asked:
        return value
    match value:
        case str():
            return _stable_text(value)
        case dict():
            known = asked if isinstance(asked, dict) else {}
            return {key: stable(part, known.get(key, _NOTHING)) for key, part in value.items()}
        case list() | tuple():
            of = asked if isinstance(asked, (list, tuple)) else ()
            known_at = (*of, *[_NOTHING] * (len(value) - len(of)))
            return [stable(part, known_at[place]) for place, part in enumerate(value)]
    return value


def _stable_text(text: str) -> str:
    if _is_uuid(text):
        return "<uuid>"
    if _is_time(text):
        return "<time>"
    return _without_folder(_without_port(text))


def _is_uuid(text: str) -> bool:
    parts = text.split("-")
    return tuple(map(len, parts)) == _UUID_DIGITS and _HEX.issuperset("".join(parts))


def _is_time(text: str) -> bool:
    """Whether it is a date with a time of day; a date alone may be an argument of the task."""
    if len(text) < len("2026-05-01T10:00") or not text[:4].isdigit():
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _without_port(text: str) -> str:
    if "://" not in text:
        return text
    try:
        url = urlsplit(text)
        known = url.hostname in LOOPBACK_HOSTS
    except ValueError:
        return text
    return url._replace(netloc="<loopback>").geturl() if known else text


def _without_folder(text: str) -> str:
    """The text as a path below a scratch folder, if it is one."""
    if not text.startswith("/") or SCRATCH_PREFIX not in text:
        return text
    parts = PurePosixPath(text).parts
    place = next((n for n, part in enumerate(parts) if part.startswith(SCRATCH_PREFIX)), None)
    return text if place is None else "/".join(("<scratch>", *parts[place + 1 :]))
