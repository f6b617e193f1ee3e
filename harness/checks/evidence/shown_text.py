"""The text that a user reads of a turn, from the messages that the outbox accepted.

Some agents send an answer in pieces, and the last piece as the final. Others stream the pieces and
then send the whole answer again, which replaces them on the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import is_taken
from harness.core.history.exchanges import ENDINGS, Sending


def shown(sendings: Iterable[Sending]) -> Iterator[tuple[str, tuple[Sending, ...]]]:
    """Yield each text that a user reads to its end, with its messages.

    A text ends with a final or an error. Pieces without one are a text too.
    """
    parts: list[Sending] = []
    for sending in sendings:
        if not is_taken(sending) or sending.request.kind not in _READ:
            continue
        parts.append(sending)
        if sending.request.kind in ENDINGS:
            yield _joined(parts), tuple(parts)
            parts = []
    if parts:
        yield _joined(parts), tuple(parts)


_READ = ENDINGS | {"partial"}


def _joined(parts: list[Sending]) -> str:
    """The text of the messages; the last one alone, if it holds what the others say."""
    *pieces, last = (part.request.text for part in parts)
    whole = squeeze(last)
    if squeeze("".join(pieces)) in whole:
        return last
    return "".join([*pieces, last])
