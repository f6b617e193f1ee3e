"""A gateway: a reader takes each message as it comes, and a worker answers them one at a time.

The loop is that of `careful_sync.py`. The option `inbound` says what happens to a message that
comes while its session has a turn: `queue` (answered after it), `steer` (the running turn reads it
before its next request) or `interrupt` (the turn ends for it). Take the parts that you lack:

- `WaitingMessages`: a message is on disk before the reader asks for the next one.
- `serve`, `take_up`: what waited, and what was under way, is found again after a restart.
- `fold`, `check_budget`, `finish`: steering, interrupting, and one reply for several messages.
- `outcome`: a call that the user has to allow.
"""

from __future__ import annotations

import queue
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

from examples.agents.anthropic_rows import Row, clean, said
from examples.agents.careful_sync import Cancelled, CarefulAgent, NotKept
from harness import Brief, Inbound

POLICIES = ("queue", "steer", "interrupt")


class WaitingMessages:
    """The messages that were accepted and that no turn has taken: in a file, in order."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        # The reader and the worker write, each a row at a time; the lock of the file is enough.
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS waiting (n INTEGER PRIMARY KEY, session TEXT, id TEXT,"
            " text TEXT, UNIQUE (session, id))"
        )

    def put(self, message: Inbound) -> None:
        """Keep a message; one that comes again while it waits is kept once."""
        values = (message.session, message.id, clean(message.text))
        self.db.execute(
            "INSERT OR IGNORE INTO waiting (session, id, text) VALUES (?, ?, ?)", values
        )

    def first(self, session: str = "") -> Inbound | None:
        """The message that waits longest, of one session or of all."""
        found = self.db.execute(
            "SELECT session, id, text FROM waiting WHERE ? IN ('', session) ORDER BY n LIMIT 1",
            (session,),
        ).fetchone()
        return found and Inbound(session=found[0], id=found[1], text=found[2])

    def drop(self, message: Inbound) -> None:
        """Forget a message that a turn has taken."""
        key = (message.session, message.id)
        self.db.execute("DELETE FROM waiting WHERE session = ? AND id = ?", key)


class Gateway(CarefulAgent):
    """Works on one message at a time; the reader takes further ones meanwhile."""

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.policy = str(brief.options.get("inbound", POLICIES[0]))
        if self.policy not in POLICIES:
            raise ValueError(f"inbound is {' or '.join(POLICIES)}, not {self.policy}")
        self.waiting = WaitingMessages(brief.session_dir / "waiting.db")
        self.news: queue.Queue[bool] = queue.Queue()
        self.turn_messages: list[Any] = [None]

    def run(self) -> None:
        """Finish what an earlier life began, then answer what waits until there are no more."""
        self.resume()
        with ThreadPoolExecutor(1) as reader:
            reading = reader.submit(self.read)
            self.serve()
            while self.news.get():
                self.serve()
        reading.result()

    def read(self) -> None:
        """The reader: a message is accepted when the next one is asked for, so keep it first."""
        try:
            for message in self.inbox():
                if (message.session, message.id) not in self.taken:  # else it comes again
                    self.waiting.put(message)
                    self.news.put(True)
        finally:
            self.news.put(False)

    def serve(self) -> None:
        """Answer what waits, in the order of its arrival."""
        while (message := self.waiting.first()) is not None:
            self.resume(unanswered=False)
            is_taken = self.taken_from_queue(message)
            if is_taken:
                self.turn(message)

    def taken_from_queue(self, message: Inbound) -> bool:
        """Move a message into the conversation; False if there is nothing to do for it.

        It is stored there before it is dropped here: after a kill in between it is known already.
        """
        is_new, key = False, (message.session, message.id)
        if message.text.strip():
            is_new = self.take(message)
        elif key not in self.taken:  # no store keeps it, and the channel may deliver it again
            self.taken.add(key)
            self.say(message, "Your message has no text that I can read.", "error", "failed")
        self.waiting.drop(message)
        return is_new

    # A turn, and what comes meanwhile

    def begin_turn(self, inbound: Any) -> None:
        """Load the conversation; this turn has asked nothing and taken in nothing yet."""
        super().begin_turn(inbound)
        # Messages of several sessions wait, so each request says which one it is for.
        at = f"{self.brief.base_url}/s/{quote(self.session, safe='')}"
        self.client = self.client.with_options(base_url=at)
        self.has_asked, self.turn_messages = False, [inbound]

    def ask_fitting(self) -> Row:
        """Ask the model, with what has come until now."""
        if self.policy == "steer":
            self.fold()
        answer = super().ask_fitting()
        self.has_asked = True
        return answer

    def fold(self) -> None:
        """Put the messages that wait for this session at the end of its conversation."""
        while (message := self.waiting.first(self.session)) is not None:
            if not message.text.strip():
                self.waiting.drop(message)  # the reply of this turn answers it
            elif self.taken_from_queue(message):
                self.rows[self.session].append(
                    {**said("user", message.text), "inbound": message.id}
                )
                self.turn_messages.append(message)

    def check_budget(self) -> None:
        """End the turn for a message that interrupts it, once the model has read its own."""
        super().check_budget()
        if self.policy == "interrupt" and self.has_asked and self.waiting.first(self.session):
            raise Cancelled

    def finish(self, inbound: Any, text: str, kind: str, status: str) -> None:
        """One reply for all messages of the turn, which it names.

        The others are settled before: after a kill in between the newest is still open, and the
        turn goes on with it.
        """
        *others, newest = self.turn_messages
        for message in others:
            self.settle(message)
        super().finish(newest, text, kind, status)

    def say(self, inbound: Any, text: str, kind: str, status: str) -> bool:
        """Name each message that the turn has taken in: a stop may answer one that was not read."""
        names: str | list[str] = inbound.id
        if inbound is self.turn_messages[-1]:
            names = [message.id for message in self.turn_messages]
        return self.send(text, kind, inbound.session, in_reply_to=names, status=status)

    def settle(self, message: Any) -> None:
        """Note that another message's reply answers this one."""
        try:
            self.keep("delivered", message)
        except NotKept:
            return

    def take_up(self, turn: Any) -> None:
        """Go on with an interrupted turn: with its newest message, if it has taken in several."""
        later = [p.inbound for p in self.keep("pending") if p.reply is None and p is not turn]
        places = [m.id for m in later if m.session == turn.inbound.session]
        if self.policy == "steer" and places and places[-1] != turn.inbound.id:
            self.settle(turn.inbound)
        else:
            super().take_up(turn)

    # Calls that the user has to allow

    def outcome(self, call: Row) -> tuple[str | list[Row], bool]:
        """Ask the user first where a tool needs it; the call runs as it was allowed."""
        tool = self.tools[call["name"]]
        if not tool.needs_approval:
            return super().outcome(call)
        answer = self.approval(tool.name, call)
        self.check_budget()
        if answer is None or answer.answer != "allow":
            why = answer.reason if answer is not None and answer.reason else "the user said nothing"
            return f"Not run: the user did not allow this call ({why}).", True
        content, failed = super().outcome({**call, "input": answer.input})
        if answer.input != call["input"] and isinstance(content, str):
            content += f" (The user changed the input to {answer.input}.)"
        return content, failed

    def approval(self, tool: str, call: Row) -> Any:
        """The user's answer about this call, or None."""
        for pause_s in (1, 10, 60):
            try:
                answer = self.brief.ask(
                    tool, call["input"], id=call["asked_id"], session=self.session
                )
            except (OSError, RuntimeError):  # the answer is lost: ask again
                time.sleep(pause_s)
                continue
            if answer.id == call["asked_id"]:
                return answer
        return None


def agent(brief: Brief) -> None:
    """Answer every message of the inbox."""
    Gateway(brief).run()
