"""Faults of a story: how the model failed, as the faults that make it fail so again.

A fault strikes at a call of the model, counted from the first one; every reply and every failure
was a call. An agent that stops a loop early never gets as far as a later failure, so none of them
must fire.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.recordings.importing.story import Failed, Said, Step

_TOO_LONG = re.compile(
    r"prompt is too long|context.{0,20}(?:length|window|limit)|maximum context", re.IGNORECASE
)
_MESSAGE_MAX = 300
_TOO_LARGE = 413

_CUT: dict[bool, dict[str, Json]] = {
    True: {"kind": "sse.no_message_stop"},
    False: {"kind": "transport.reset_mid_body"},
}
"""An answer that ends too early, streamed or not."""


def faults(steps: Sequence[Step], stream: bool) -> list[dict[str, Json]]:
    """The faults of the steps; failures of one kind in a row are one fault."""
    found = [(fault_of(failed, stream), n) for n, failed in _failures(steps)]
    return [
        {**fault, "when": _when([n for _, n in group]), "must_fire": False}
        for fault, group in groupby(found, key=itemgetter(0))
    ]


def _failures(steps: Sequence[Step]) -> Iterator[tuple[int, Failed]]:
    """Each failure, with the number of the call that met it."""
    calls = [step for step in steps if isinstance(step, (Said, Failed))]
    for number, step in enumerate(calls, start=1):
        if isinstance(step, Failed):
            yield number, step


def _when(numbers: list[int]) -> Json:
    return numbers[0] if len(numbers) == 1 else numbers


def fault_of(failed: Failed, stream: bool) -> dict[str, Json]:
    """The fault that makes the model fail in this way, without its place."""
    error = failed.error
    if error is None:
        return _CUT[stream]
    if error.status == _TOO_LARGE:
        return {"kind": "http.too_large"}
    if is_too_long(failed):
        return {"kind": "http.prompt_too_long"}
    if 400 <= error.status <= 599:
        return {"kind": "http.status", "status": error.status, **_words(error)}
    kind = "sse.error_event" if stream else "http.error_envelope_under_200"
    return {"kind": kind, **_words(error)}


def is_too_long(failed: Failed) -> bool:
    """Whether the model refused because the prompt was too long."""
    error = failed.error
    if error is None:
        return False
    return error.status == _TOO_LARGE or bool(
        error.status == 400 and _TOO_LONG.search(error.message)
    )


def _words(error: ApiError) -> dict[str, Json]:
    """The provider's type and words, so far as they were recorded."""
    said = {"type": error.type, "message": error.message[:_MESSAGE_MAX]}
    return {name: text for name, text in said.items() if text}
