"""The model seam of the transition: from a request's bytes to the bytes of its answer.

This file decides which request a request continues, its purpose, and the order of limits, dialect,
script, faults and provider. It numbers the sets of headers of a run's requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat, takewhile
from typing import NamedTuple, cast
from urllib.parse import unquote

import msgspec

from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.scenario.script import closing_words
from harness.core.transition.answer_event import record_answer, record_reply
from harness.core.transition.arming import ArmedFault
from harness.core.transition.bound_tools import BoundTools
from harness.core.transition.cassette_answer import is_plain, parsed
from harness.core.transition.faulty_answer import Bent, bend, is_too_large
from harness.core.transition.limits import STOP, no_answer, over_limit
from harness.core.transition.messages_reached import reached
from harness.core.transition.ports import (
    Endpoint,
    IssuedThinking,
    KeepingReader,
    Miss,
    Provider,
    Reader,
    Reading,
    Script,
    SigningReader,
    WireHeaders,
)
from harness.core.values.calls import Call, ModelRequest, Purpose, Received
from harness.core.values.draws import Draws
from harness.core.values.messages import (
    Json,
    Message,
    Opaque,
    Text,
    ToolUse,
    digest,
    is_in_body,
    is_malformed,
)
from harness.core.values.patterns import EndlessPattern, is_in, pattern_of
from harness.core.values.plans import ApiError, Plan, Recorded, Reply, only_sends

_TOLD = frozenset({"cassette.miss", "script.unoffered"})
"""The codes of `Miss`: the history keeps the text of these answers, for findings to say."""

_OURS = "x-harness-"
"""The beginning of the harness's own headers."""

_PURPOSE = f"{_OURS}purpose"


class RequestHeaders:
    """The headers of one run's model requests, as the history names them.

    Two requests with different headers are different (one beta less, another key, another route).
    Headers hold secrets and facts about the machine, so the history numbers the sets of headers and
    keeps only a few values.
    """

    def __init__(self, known: WireHeaders) -> None:
        self._known = known
        self._names = (*known.kept, known.helper, _PURPOSE)
        self._starts = (_OURS, *known.passing_starts)
        self.last: dict[str, str] | None = None
        """The headers of the last request; who has the same dict again need not hand it in."""
        self._sets: dict[tuple[tuple[str, str], ...], int] = {}
        self.kept: dict[str, str] = {}
        """The headers of the last request that the history keeps; equal headers share one dict."""
        self.number = 0
        """The number of the last request's header set; the first set is 0."""

    def take(self, headers: dict[str, str]) -> None:
        """Record the headers of a request, by lower-case name."""
        if headers == self.last:
            return
        self.last = headers
        self.kept = {name: headers[name] for name in self._names if name in headers}
        said = tuple(sorted(item for item in headers.items() if self._is_said(*item)))
        self.number = self._sets.setdefault(said, len(self._sets))

    def _is_said(self, name: str, value: str) -> bool:
        """Whether a header belongs to the content of a request."""
        if name == "authorization" and value.startswith(self._known.signed_starts):
            return False
        return name not in self._known.passing and not name.startswith(self._starts)


class Kept(NamedTuple):
    """What a provider keeps of the conversations of a session and a purpose, at its path."""

    path: str
    lane: tuple[str, str]
    held: bytes


class ModelSeam:
    """The model's side of one run: reads requests, and scripts, changes and writes answers."""

    def __init__(
        self,
        scenario: Scenario,
        wire: Provider,
        script: Script,
        history: History,
        draws: Draws,
        faults: Sequence[ArmedFault],
        bound: BoundTools,
        issued: IssuedThinking | None,
        stored: Sequence[Message] = (),
        *,
        is_home: bool = True,
    ) -> None:
        self.scenario, self.wire, self.script, self.history = scenario, wire, script, history
        self._dialect = scenario.dialect if is_home else ""  # a dialect is one of the run's wire
        self.draws, self.faults, self._bound = draws, faults, bound
        self._issued, self._home = issued, wire.paths()[0]
        self._readers: dict[tuple[str, str], Reader] = {}
        self._last_key: dict[tuple[str, str], str] = {}
        self._named: dict[str, tuple[object, str]] = {}
        self._replied: tuple[object, str] = (None, "")
        self._headers = RequestHeaders(wire.headers)
        self._settings: dict[tuple[str, str], tuple[object, str]] = {}
        self._summaries: dict[str, None] = {}  # a set has another order in each process
        self._shortened = set[str]()  # sessions that have asked for a summary
        self._said: dict[str, Sequence[Message]] = {"main": stored}  # the seeded session
        self._purposes = tuple((pattern_of(p), name) for p, name in scenario.purposes.items())
        self.endless = ""

    def of(self, other: Provider) -> ModelSeam:
        """The seam of another provider in the same run.

        A dialect, and the thinking of a stored session, are of the run's own provider.
        """
        issued = self._issued and IssuedThinking(self.history, (), other.name)
        return ModelSeam(
            self.scenario, other, self.script, self.history, self.draws, self.faults, self._bound,
            issued, is_home=False,
        )  # fmt: skip

    def _reader(self, lane: tuple[str, str]) -> Reader:
        reader = self._readers.get(lane)
        if reader is None:
            reader = self._readers[lane] = self.wire.reader(
                self._dialect, self.scenario.window_tokens
            )
            if self._issued is not None and isinstance(reader, SigningReader):
                reader.expect(self._issued)
        return reader

    def kept(self) -> Iterator[Kept]:
        """What the provider keeps of conversations."""
        for lane, reader in self._readers.items():
            if isinstance(reader, KeepingReader) and (held := reader.kept()):
                yield Kept(self._home, lane, held)

    def keep(self, kept: Kept) -> None:
        """Take over what the provider kept in an earlier process of the agent."""
        reader = self._reader(kept.lane)
        assert isinstance(reader, KeepingReader)
        reader.keep(kept.held)

    def session_in(self, body: bytes) -> str:
        """The session of a request that names none: that in progress, or one whose message has come
        beside it and is in the request."""
        past = self.history.past
        working, waiting = past.working_session, past.others_waiting
        if not waiting:
            return working
        opened = past.inbounds.get((working, past.open_inbound(working)), {})
        if is_in_body(opened.get("text", ""), body):
            return working
        return next((name for name, text in waiting if is_in_body(text, body)), working)

    def call(
        self, received: Received, session: str, endpoint: Endpoint | None = None
    ) -> tuple[Call, Reading]:
        """The request as a `Call` for scripts and faults, and as the wire's `Reading`."""
        stated, past = received.headers.get(_PURPOSE, ""), self.history.past
        lane = (session, stated or "main")
        reader = self._reader(lane)
        body = received.body
        # Gemini, Azure and Bedrock name the model, and whether to stream, in the address alone.
        if received.path != self._home:
            body = self.wire.complete_body(received.path, received.query, body)
        reading = reader.read(body)
        if endpoint is not None:
            found = endpoint.refused(received.body, self._dialect)
            more = (*found, *reading.violations) if found else reading.violations
            reading = msgspec.structs.replace(reading, violations=more)
        n = past.next_index(session, "model")
        after = self._last_key.get(lane, "") if reading.keep else ""
        key = self._last_key[lane] = f"{session}/model#{n}"
        request = self._request(lane, reading, after, received)
        purpose = self._purpose(stated or reading.purpose, reading, session)
        turn = past.turn(session)
        if purpose == "compact":
            self._shortened.add(session)
        if purpose == "main":
            if past.waiting(session):
                turn, took = reached(self.history, session, reading, self._said.get(session, ()))
                request = msgspec.structs.replace(request, took=took)
            self._said[session] = reading.messages
        call = Call(
            key, "model", n, session, turn, received.at_ms, request, purpose,
            messages=reading.messages, system=reading.system, tools=reading.tools,
            settings=reading.settings, timeout_ms=received.timeout_ms, tokens=reading.tokens,
            provider=self.wire.name,
        )  # fmt: skip
        return call, reading

    def _request(
        self, lane: tuple[str, str], reading: Reading, after: str, received: Received
    ) -> ModelRequest:
        at_ms = received.at_ms
        if received.headers is not self._headers.last:  # a transport shares the dict of equal ones
            self._headers.take(received.headers)
        return ModelRequest(
            model=reading.model,
            messages=tuple(map(self.history.note, reading.added, repeat(at_ms))),
            after=after, keep=reading.keep,
            system=self._digest("system", reading.system, at_ms) if reading.system else "",
            tools=self._digest("tools", reading.tools, at_ms) if reading.tools else "",
            tools_offered=reading.tools_offered, max_tokens=reading.max_tokens,
            stream=reading.stream, headers=self._headers.kept, header_set=self._headers.number,
            settings=self._settings_name(lane, reading.settings), unread=reading.unread,
        )  # fmt: skip

    def _settings_name(self, lane: tuple[str, str], settings: dict[str, Json]) -> str:
        """The digest of a request's other fields; one reader gives equal fields as one dict."""
        if not settings:
            return ""
        seen = self._settings.get(lane)
        if seen is None or seen[0] is not settings:
            seen = self._settings[lane] = (settings, digest(settings))
        return seen[1]

    def _digest(self, slot: str, value: object, at_ms: int) -> str:
        seen = self._named.get(slot)
        if seen is None or (seen[0] is not value and seen[0] != value):
            name = self.history.value(msgspec.to_builtins(value), at_ms)
            seen = self._named[slot] = (value, name)
        return seen[1]

    def _newest(self, reading: Reading, session: str) -> str:
        """The user's newest words. After a summary, the turn's own message may stand in one message
        with others: what stands before it asks for nothing."""
        newest = next((m for m in reversed(reading.messages) if m.role == "user"), Message("user"))
        *before, last = [b.text for b in newest.blocks if isinstance(b, Text)] or [""]
        past = self.history.past
        own = past.inbounds.get((session, past.open_inbound(session)), {}).get("text")
        return last if before and last == own and session in self._shortened else newest.text

    def _purpose(self, stated: str, reading: Reading, session: str) -> Purpose:
        if stated in ("main", "compact", "aux"):
            return cast(Purpose, stated)
        if not self._purposes:
            return "main"
        said = self._newest(reading, session)
        # A summary that says what was asked for it asks for nothing where the agent sends it on. A
        # request may begin with the same words.
        for echo in filter(None, self._summaries):
            said = said[:1] + said[1:].replace(echo, "")
        # Many agents say what a summary is in the system text, and send the conversation as the
        # user's. Some wires keep that text in the list.
        rules = takewhile(lambda m: m.role in ("system", "developer"), reading.messages)
        texts = (said, *filter(None, (reading.system, *(m.text for m in rules))))
        try:
            found = (n for p, n in self._purposes if any(is_in(p, text) for text in texts))
            return next(found, "main")
        except EndlessPattern as error:
            # An agent may catch what is raised here, so the end of the run tells it.
            self.endless, self._purposes = f"purposes: {error.what}", ()
            return "main"

    def endpoint(self, path: str) -> Endpoint | None:
        """The endpoint of another host at a path; None at the API's own, the common case."""
        return None if path == self._home else self.wire.endpoint(path)

    def record(
        self, call: Call, received: Received, reading: Reading, endpoint: Endpoint | None = None
    ) -> None:
        """Record the call."""
        retry = received.headers.get(self.wire.headers.retry_count, "0")
        self.history.called(
            key=call.key, seam="model", request=call.request, at_ms=call.at_ms,
            session=call.session, turn=call.turn, purpose=call.purpose,
            sdk_retry=int(retry) if retry.isdecimal() else 0,
            refused=tuple([v.rule for v in reading.violations]) if reading.violations else (),
            bytes=len(received.body), tokens=reading.tokens,
            parent=unquote(received.headers.get(f"{_OURS}parent", "")) if call.n == 1 else "",
            provider=self.wire.name,
            malformed=not reading.messages and is_malformed(received.body),
            route=received.path if endpoint is not None else "",
        )  # fmt: skip

    def answer(
        self, call: Call, reading: Reading, limit: str, endpoint: Endpoint | None = None
    ) -> Plan:
        """The plan for a call, recorded; `limit` names the exceeded limit, "" for none."""
        value, turn, error = self._value(call, reading, limit)
        if value is None:
            return record_answer(self.history, call, (STOP,), error=error)
        due = self._due(call, error) if self.faults else []
        if isinstance(value, Reply) and not due:
            plan = self.wire.write(value, reading, call.key, self.draws)
            # A wrapper's refusal states that it counts no token; other usage is left to the wire.
            large = bool(value.usage) and is_too_large(self.wire, value)
            if endpoint is not None:
                hosted = endpoint.sent(plan)
                assert only_sends(hosted), "a host adds no step"
                plan = hosted
            said = self._reply_name(value, call.at_ms)
            return record_reply(self.history, call, plan, value, said, turn=turn, too_large=large)
        return self._bent(call, reading, value, turn, error, due, endpoint)

    def _reply_name(self, reply: Reply, at_ms: int) -> str:
        """The digest of a reply's message; a script says one reply many times."""
        if self._replied[0] is not reply.blocks:
            message = Message("assistant", reply.blocks)
            self._replied = reply.blocks, self.history.note(message, at_ms)
        return self._replied[1]

    def _bent(
        self,
        call: Call,
        reading: Reading,
        value: Reply | ApiError | Recorded,
        turn: int | None,
        error: str,
        due: list[ArmedFault],
        endpoint: Endpoint | None,
    ) -> Plan:
        if due or not is_plain(value):
            bent = bend(self.wire, self.history, self.draws, due, call, reading, value)
        else:
            bent = Bent(self.wire.write(value, reading, call.key, self.draws), value)
        plan, told, cut = bent.plan, bent.said, bent.cut
        if isinstance(told, Reply) and call.purpose == "compact":
            self._summaries[Message("assistant", told.blocks).text.strip()] = None
        if isinstance(told, Recorded):
            told, cut = parsed(self.wire, told, plan)
        elif endpoint is not None:
            plan = endpoint.sent(plan)
        return record_answer(
            self.history, call, plan, turn=turn if bent.consumed else None, said=told, error=error,
            faults=bent.by, cut=cut, said_all=bent.said_all,
            value=value.message if error in _TOLD and isinstance(value, ApiError) else None,
            too_large=is_too_large(self.wire, told, cut=cut, heard=bent.heard),
            wait_ms=self.wire.headers.wait_ms,
        )  # fmt: skip

    def _due(self, call: Call, error: str) -> list[ArmedFault]:
        if error.startswith("limit."):
            return []
        past, draws = self.history.past, self.draws
        return [fault for fault in self.faults if fault.is_due(call, past, draws)]

    def _value(
        self, call: Call, reading: Reading, limit: str
    ) -> tuple[Reply | ApiError | Recorded | None, int | None, str]:
        """The answer, the script's turn, and the code of a refusal; without an answer the run
        stops."""
        if limit:
            error = over_limit(limit, self.scenario.limits, self.history.past, self.wire)
            return error, None, f"limit.{limit}"
        if reading.violations and not getattr(self.script, "recorded", False):
            first = reading.violations[0]
            return first.error, None, first.rule
        played = self.script.reply(call, self.history.past)
        if played is None:
            return self._exhausted(), None, "script.exhausted"
        if isinstance(played, Miss):
            return no_answer(played.text, self.wire), None, played.code
        value, turn = played
        assert isinstance(value, (Reply, ApiError, Recorded)), value
        if not isinstance(value, Reply):
            return value, turn, ""
        calls = any(isinstance(block, ToolUse | Opaque) for block in value.blocks)
        if turn is not None and calls and not getattr(self.script, "fits_offers", False):
            # One that is asked for a summary or a title answers in words, and the turn stays due.
            made = self._bound.reply(value, call, reading.tools if reading.tools_offered else ())
            value, turn = (closing_words(call), None) if made is None else (made, turn)
        return reading.complete(value), turn, ""

    def _exhausted(self) -> ApiError:
        plays = self.history.past.plays.items()
        turns = sum(1 for (lane, _), times in plays if lane == "model" and times)
        return no_answer(f"loop-harness: the script has ended after {turns} turns", self.wire)
