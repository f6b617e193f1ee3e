"""A history of ours as a recording: the events of a run, not messages."""

from __future__ import annotations

import msgspec

from harness.core.history.event_log import BadLine
from harness.core.history.history import decode
from harness.core.values.errors import InputError
from harness.recordings.json_documents import not_utf8
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import split
from harness.recordings.transcripts import Recording

_FIRST_EVENTS = ("started", "message", "value")


def _begins_as_history(document: bytes) -> bool:
    try:
        first = msgspec.json.decode(next(split(document.lstrip()), b""))
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("event") in _FIRST_EVENTS


@recognised_by(_begins_as_history)
def history(document: bytes) -> Recording:
    """history of loop-harness.

    Raises InputError with the line that is not an event.
    """
    try:
        document.decode()
        return Recording(history=decode(document))
    except UnicodeDecodeError:
        raise not_utf8(document) from None
    except BadLine as error:
        place = f"line {error.number}"
        raise InputError("no event of loop-harness", place, more=error.what) from None
