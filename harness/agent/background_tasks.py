"""Sub-agents that work in the background: their results wait here until a turn takes them in.

A result is stored as a message of the session before the model reads it, so a restart loses none
that was given. A sub-agent itself dies with its process. The stored history shows that: it has the
start and no end, and the next turn tells the model so.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Literal, TypeAlias

from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.messages import user
from harness.stores import SessionStore

STARTED = "Started in the background as {0}. Its result comes in a later message."
ENDED, FAILED = "[{0} has ended]\n{1}", "[{0} has failed]\n{1}"
LOST = "[{0} was lost when the agent was restarted, and has not finished]"

_STARTED = re.compile(re.escape(STARTED).replace(r"\{0\}", r"(\S+)"))
_TOLD = re.compile(r"^\[(\S+) (?:has ended|has failed|was lost)", re.MULTILINE)

TakesIn: TypeAlias = Literal["queue", "steer"]
"""When a turn takes in what has ended: with its first request only, or with each."""


class BackgroundTasks:
    """The sub-agents of one process, and the messages of those that have ended, by session."""

    def __init__(self, takes_in: TakesIn, store: SessionStore) -> None:
        self._takes_in, self._store = takes_in, store
        self._threads: dict[str, threading.Thread] = {}
        self._ended: list[tuple[str, str]] = []
        self._stops: list[BaseException] = []
        self._looked = set[str]()

    def start(self, name: str, session: str, work: Callable[[], str]) -> str:
        """Let a sub-agent work for a session; return what its call tells the model at once."""
        thread = threading.Thread(target=self._work, args=(name, session, work), daemon=True)
        self._threads[name] = thread
        thread.start()
        return STARTED.format(name)

    def _work(self, name: str, session: str, work: Callable[[], str]) -> None:
        try:
            told = ENDED.format(name, work())
        except Exception as error:
            told = FAILED.format(name, str(error) or type(error).__name__)
        except BaseException as stop:  # the run is over: the thread of the turns raises it
            self._stops.append(stop)
            return
        self._ended.append((session, told))

    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Store what has ended for a session, before a request of its turn."""
        if not is_first and self._takes_in == "queue":
            return
        if session not in self._looked:
            self._looked.add(session)
            for name in self._lost(session):
                transcript.append(user(LOST.format(name)))
        for ended in [each for each in self._ended if each[0] == session]:
            transcript.append(user(ended[1]))
            self._ended.remove(ended)

    def _lost(self, session: str) -> list[str]:
        """The sub-agents of a process before this one that no message tells of."""
        started, told = dict[str, None](), set[str]()
        for row in self._store.rows(session):
            for result in row.message.tool_results:
                started |= dict.fromkeys(_STARTED.findall(result.text))
            told.update(_TOLD.findall(row.message.text))
        return [name for name in started if name not in told and name not in self._threads]

    def join(self) -> None:
        """Wait until all have ended. Raises what has stopped one of them."""
        for thread in list(self._threads.values()):
            thread.join()
        if self._stops:
            raise self._stops[0]
