"""The messages that come while a turn runs: a thread reads them, and a policy says what they do.

The question for the next message waits until one is there. So a thread asks, and the turns look
between two steps into what it has left. A message stays there until it is stored.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.profile import InboundPolicy


class ReadingBrief:
    """The brief of an agent that reads ahead; without a member here, it is that of the run.

    `queue`: each message waits for its own turn. `steer`: the next request of the open turn holds
    it. `interrupt`: it cancels the open turn. `collect`: the first request of a turn holds all that
    have come.
    """

    def __init__(self, brief: Brief, policy: InboundPolicy) -> None:
        self._brief, self.policy = brief, policy
        self._came: deque[Inbound] = deque()
        self._seen: set[tuple[str, str]] = set()
        self._news = threading.Condition()
        self._end: BaseException | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._brief, name)

    def inbox(self, *, cancels: bool = False) -> Iterator[Inbound]:
        """The messages in their order, each for a turn."""
        reader = threading.Thread(target=self._read, args=(cancels,), daemon=True)
        reader.start()
        while True:
            with self._news:
                self._news.wait_for(lambda: self._came or self._end)
                if not self._came:
                    break
                inbound = self._came.popleft()
            yield inbound
        reader.join()
        if self._end is not None and not isinstance(self._end, StopIteration):
            raise self._end

    def _read(self, cancels: bool) -> None:
        """Take what comes until nothing more does, or until the inbox fails."""
        end: BaseException = StopIteration()
        try:
            for inbound in self._brief.inbox(cancels=cancels):
                self._tell(inbound)
        except BaseException as error:  # the thread of the turns raises it
            end = error
        self._tell(end)

    def _tell(self, news: Inbound | BaseException) -> None:
        with self._news:
            if isinstance(news, Inbound):
                if (news.session, news.id) not in self._seen:  # what is repeated interrupts nothing
                    self._came.append(news)
                self._seen.add((news.session, news.id))
            else:
                self._end = news
            self._news.notify_all()

    def cancelled(self, session: str = "main") -> bool:
        """Whether the turn ends here: for a cancel, or for a message that interrupts it."""
        interrupts = self.policy == "interrupt" and bool(self._of(session))
        return interrupts or self._brief.cancelled(session)

    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Store what has come for an open turn, before a request of it; the first, or a later one.

        A blank message stays for its own turn, which tells the user so.
        """
        if self.policy != "steer" and not (self.policy == "collect" and is_first):
            return
        for inbound in self._of(session):
            if inbound.text.strip():
                transcript.join(inbound)
                self._came.remove(inbound)

    def _of(self, session: str) -> list[Inbound]:
        return [inbound for inbound in tuple(self._came) if inbound.session == session]
