"""The messages that come while a turn runs: a thread reads them, and a policy says what they do.

The question for the next message waits until one is there. So a thread asks, and the turns look
between two steps into what it has left. Who asks for the next message has accepted the one before,
and a crash does not bring it back: so it is in a file until its turn has ended.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

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
        self._kept = KeptMessages(Path(brief.session_dir) / "accepted.jsonl")
        self._came = deque(self._kept.left())
        self._begun = self._kept.begun()
        self._seen = {(inbound.session, inbound.id) for inbound in self._came}
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
            self._kept.begin(inbound)
            yield inbound
            self._kept.settle(inbound)
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
                    self._kept.keep(news)
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
                self._kept.settle(inbound)

    def _of(self, session: str) -> list[Inbound]:
        """What waits behind the open turn. After a crash that may be the turn of a message that
        waits here too: it neither interrupts nor joins itself."""
        waiting = (inbound for inbound in tuple(self._came) if inbound.session == session)
        return [inbound for inbound in waiting if (session, inbound.id) not in self._begun]


class KeptMessages:
    """The accepted messages in a file: a line each as it comes, as its turn begins, and once it is
    done with."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def left(self) -> list[Inbound]:
        """The messages that an earlier life accepted and was not done with, in order."""
        left: dict[tuple[str, str], Inbound] = {}
        for row, inbound in self._rows():
            name = inbound.session, inbound.id
            if "begun" in row:
                continue
            left.pop(name, None)
            if "done" not in row:
                left[name] = inbound
        return list(left.values())

    def begun(self) -> set[tuple[str, str]]:
        """The messages, by session and id, whose turn an earlier life began."""
        return {(each.session, each.id) for row, each in self._rows() if "begun" in row}

    def _rows(self) -> Iterator[tuple[dict[str, Any], Inbound]]:
        for line in self._path.read_bytes().splitlines() if self._path.exists() else ():
            try:
                row = json.loads(line)
                yield row, msgspec.convert(row, Inbound)
            except (ValueError, TypeError):
                continue  # a crash cut it, before anyone relied on it

    def keep(self, inbound: Inbound) -> None:
        """Store a message that has come."""
        self._append(msgspec.to_builtins(inbound))

    def begin(self, inbound: Inbound) -> None:
        """Store that the turn of a message begins."""
        self._append({"session": inbound.session, "id": inbound.id, "begun": True})

    def settle(self, inbound: Inbound) -> None:
        """Store that a message is in the conversation, or was answered."""
        self._append({"session": inbound.session, "id": inbound.id, "done": True})

    def _append(self, row: dict[str, Any]) -> None:
        with self._path.open("ab") as file:
            file.write(b"\n" + json.dumps(row).encode())  # a line that a crash cut ends here
            file.flush()
            os.fsync(file.fileno())
