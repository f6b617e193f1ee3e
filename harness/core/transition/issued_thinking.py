"""The thinking that an agent may send back although its signature cannot be verified by itself.

It is the thinking that was stored before the run or sent by the provider in the run. A script, a
fault or a recording may set any signature. Only a signature that fails the provider's own check is
looked up, so most runs never read their history for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.history.events import Answered
from harness.core.history.history import History
from harness.core.values.messages import Message, Thinking


class IssuedThinking:
    """The signed thinking of one run, by signature; a redacted block is stored by its data."""

    def __init__(self, history: History, stored: Iterable[Message] = ()) -> None:
        self._history, self._read = history, 0
        self._texts: dict[str, set[str]] = {}
        for message in stored:
            self._take(message)

    def texts(self, signature: str) -> Iterable[str]:
        """The texts with a signature; empty for an unknown signature."""
        events = self._history.events
        for event in events[self._read :]:
            if isinstance(event, Answered) and event.seam == "model" and event.blocks:
                self._take(self._history.messages[event.blocks])
        self._read = len(events)
        return self._texts.get(signature, ())

    def _take(self, message: Message) -> None:
        for block in message.blocks:
            if isinstance(block, Thinking) and (name := block.redacted or block.signature):
                self._texts.setdefault(name, set()).add(block.text)
