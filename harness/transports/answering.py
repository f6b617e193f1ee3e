"""One connection of the loopback door: its requests, and plans carried out on a socket.

The frame of a body follows the plan. What is known at once is one segment with its length. What
comes in pieces comes in chunks, or, where it ends by a `Close` and its head says nothing else,
without a frame: the end of the connection is its end. Bytes without a head go out as they stand. A
client gives up by its own clock, so a time-out is silence here until it does; `Raise("connect")`
and `Raise("dns")`, too late for a refusal, are a reset. A head that says `keep-alive: timeout=0`
is taken at its word: the connection, which the client keeps, ends once the answer is out.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.core.values.plans import Close, Head, Kill, Plan, Raise, Send, Step, Wait
from harness.transports.door import Door, stops
from harness.transports.endpoints import Endpoints, error_answer
from harness.transports.exchange import SILENT, Exchange, at_once, exchange
from harness.transports.http import (
    LAST_CHUNK,
    Connection,
    Hangup,
    Refused,
    Request,
    chunk,
    head_bytes,
    whole_answer,
)

Route = Callable[[Request], tuple[Endpoints, Request]]
"""The run that a request is for, and the request as that run sees it. Raises Refused."""


def answering(route: Route) -> Callable[[Connection], None]:
    """What serves a connection with the runs that `route` finds."""
    return lambda connection: Answering(route, connection).serve()


class Answering:
    """Serves one connection to its end; each request goes to the run that `route` finds for it."""

    def __init__(self, route: Route, connection: Connection) -> None:
        self._route, self._connection = route, connection
        self._door: Door

    def serve(self) -> None:
        """Answer requests until the client leaves, the plan ends the connection, or the server."""
        reset = False
        try:
            for request in self._connection.requests():
                endpoints, request = self._route(request)
                self._door = endpoints.door
                plan = endpoints.plan(request, self._connection.pause)
                if (known := at_once(plan)) is not None:
                    answer = whole_answer(*known, reusable=request.reusable)
                    self._connection.write(answer)
                else:
                    self._answer(exchange(plan), request)
                if not request.reusable or _kept_for_no_time(plan):
                    break
        except Refused as error:
            self._refuse(error)
        except Hangup as hangup:
            reset = hangup.reset
        self._connection.close(reset=reset)

    def _refuse(self, error: Refused) -> None:
        try:
            self._whole(error_answer(error.status, str(error)), reusable=False)
        except Hangup:
            return

    def _answer(self, answer: Exchange, request: Request) -> None:
        """Carry out an exchange. Raises Hangup where the connection ends with it."""
        for step in answer.before:
            self._step(step)
        body, head = answer.whole, answer.head
        if head is None:
            self._as_it_stands(answer)
            raise Hangup
        if body is not None and answer.declared is None and not answer.chunked:
            self._connection.write(whole_answer(head, body, reusable=request.reusable))
            return
        if request.method == "HEAD":
            raise Hangup
        self._pieces(answer, head, request)

    def _as_it_stands(self, answer: Exchange) -> None:
        """Bytes that bring their own framing, or none."""
        for part in answer.parts:
            if isinstance(part, bytes):
                self._connection.write(part)
            else:
                self._step(part)

    def _pieces(self, answer: Exchange, head: Head, request: Request) -> None:
        """A body in pieces, in the frame that its head announces or that its end needs."""
        closes = Close() in answer.parts
        chunked = answer.chunked or (answer.declared is None and request.chunks and not closes)
        framing = {} if answer.chunked or not chunked else {"transfer_encoding": "chunked"}
        framed = chunked or answer.declared is not None
        if not framed or not request.reusable:
            framing["connection"] = "close"
        pending = head_bytes(head, **framing)
        for part in answer.parts:
            if isinstance(part, bytes):
                self._connection.write(pending + (chunk(part) if chunked else part))
                pending = b""
            else:
                self._step(part)
        if chunked and not answer.cut:
            pending += LAST_CHUNK
        self._connection.write(pending)
        if not framed or answer.short or closes:
            raise Hangup

    def _step(self, step: Step) -> None:
        """A step between bytes. Raises Hangup where it ends the connection."""
        match step:
            case Wait(ms):
                self._connection.pause(ms / 1000)
            case Close(reset=True):
                raise Hangup(reset=True)
            case Raise(error) if error in SILENT:
                self._connection.pause(None)
            case Raise() if stops(step):
                self._stop(step.message)
            case Raise():
                raise Hangup(reset=True)
            case Kill():
                self._door.carry_out(step)
                raise Hangup(reset=True)
            case _:
                self._door.carry_out(step)

    def _stop(self, text: str) -> None:
        """The run is over: say so, and have the target ended from outside."""
        answer = error_answer(503, text.removeprefix("loop-harness: "))
        self._whole(answer, reusable=False)
        self._door.on_stop()
        raise Hangup

    def _whole(self, plan: Plan, *, reusable: bool) -> None:
        answer = exchange(plan)
        assert answer.head is not None
        body = answer.whole or b""
        self._connection.write(whole_answer(answer.head, body, reusable=reusable))


def _kept_for_no_time(plan: Plan) -> bool:
    """Whether the answer's head says that an idle connection is not kept."""
    first = plan[0] if plan else None
    head = first.head if isinstance(first, Send) else None
    return head is not None and head.headers.get("keep-alive") == "timeout=0"
