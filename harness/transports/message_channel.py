"""The channels by which a program gets the messages that come while it works.

A channel offers one message at a time, and the next once that one is accepted: by a status 2xx of a
webhook, by the id of an event in the next question for events, by a line that is acknowledged. What
is not accepted is offered again, as a further attempt. Telegram's webhooks and updates do so, and
so does `EventSource`, which names the last event when it connects again.
"""

from __future__ import annotations

import contextlib
import http.client
import queue
import threading
from collections.abc import Callable
from typing import IO
from urllib.parse import urlsplit

import msgspec

from harness.core.values.calls import Inbound
from harness.core.values.errors import InputError, RunStopped
from harness.core.values.plans import Answer, Delivered, Kill, Plan, Raise, Send, due_message
from harness.processes.thread_times import BackgroundThread
from harness.transports.dispatcher import Dispatcher, is_stop

OFFER_S = 30.0
"""How long a webhook may take to accept a message."""

AGAIN_S, AGAIN_MOST_S = 0.2, 5.0
"""The first and the longest pause before a message is offered again; each is twice the one before.
"""

JOIN_S = 1.0
_FIELDS = ("id", "session", "kind", "text", "at_ms", "attempt", "attributes")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

Offer = Callable[[Inbound | None], str]
"""Offers a message, or the end; returns why it was not accepted, "" if it was."""


def told_message(inbound: Inbound | None) -> dict[str, object]:
    """The fields of a message for a program, or those of the end."""
    if inbound is None:
        return {"kind": "end"}
    return {name: getattr(inbound, name) for name in _FIELDS}


class MessageChannel:
    """A thread that offers each message at its moment, and the end as a message of that kind.

    It ends with the life of the target that it was opened for: a new one opens its own.
    """

    def __init__(self, dispatcher: Dispatcher, offer: Offer, *, cancels: bool = False) -> None:
        self._dispatcher, self._offer, self._cancels = dispatcher, offer, cancels
        self._closed = threading.Event()
        self._thread = BackgroundThread(target=self._push, name="messages", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Offer nothing more."""
        self._closed.set()
        self._thread.join(JOIN_S)

    def _push(self) -> None:
        refused, pause_s = "", AGAIN_S
        with contextlib.suppress(RunStopped):
            while not self._closed.is_set():
                plan = self._dispatcher.news(self._cancels, self._pause, refused=refused)
                assert plan is not None
                if self._ends_with(plan):
                    return
                inbound = due_message(plan)
                skips = inbound is None or (inbound.kind != "message" and not self._cancels)
                if skips and not _is_end(plan):  # the inbox failed by a fault, or a cancel came
                    refused = ""
                    continue
                refused = self._offer(inbound)
                if inbound is None:
                    return
                pause_s = min(pause_s * 2, AGAIN_MOST_S) if refused else AGAIN_S
                if refused:
                    self._pause(pause_s)

    def _pause(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise RunStopped("the channel is closed")

    def _ends_with(self, plan: Plan) -> bool:
        """Carry out the steps of a plan that say nothing; whether the run or the life is over."""
        for step in plan:
            if is_stop(step):
                self._dispatcher.on_stop()
                return True
            if not isinstance(step, (Answer, Send, Raise)):
                self._dispatcher.carry_out(step)
            if isinstance(step, Kill):
                return True
        return False


def _is_end(plan: Plan) -> bool:
    return any(isinstance(step, Answer) and step.value == Delivered(None) for step in plan)


def webhook(url: str) -> Offer:
    """What posts each message to a server of this machine.

    Raises InputError for any other address: the harness sends nothing elsewhere.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme != "http" or host not in _LOOPBACK or not port:
        raise InputError("a webhook is http://127.0.0.1:PORT/PATH, on this machine", url[:200])
    path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"

    def offer(inbound: Inbound | None) -> str:
        connection = http.client.HTTPConnection(host, port, timeout=OFFER_S)
        body = msgspec.json.encode(told_message(inbound))
        try:
            connection.request("POST", path, body, {"content-type": "application/json"})
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
        finally:
            connection.close()
        return "" if 200 <= status < 300 else f"HTTP {status}"

    return offer


class Lines:
    """What writes each message as a line to a program, which acknowledges it by its id."""

    def __init__(self, into: IO[bytes]) -> None:
        self._into = into
        self._accepted: queue.Queue[str] = queue.Queue()

    def accept(self, name: str) -> None:
        """Take the acknowledgement of a message."""
        self._accepted.put(name)

    def __call__(self, inbound: Inbound | None) -> str:
        """Offer a message; one that is not acknowledged in time comes again."""
        try:
            self._into.write(msgspec.json.encode(told_message(inbound)) + b"\n")
            self._into.flush()
            while inbound is not None and self._accepted.get(timeout=OFFER_S) != inbound.id:
                pass
        except queue.Empty:
            return "no acknowledgement"
        except (OSError, ValueError) as error:  # the program has ended, or closed its input
            return type(error).__name__
        return ""
