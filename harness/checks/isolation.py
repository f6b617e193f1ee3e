"""Isolation: words of one session stay in that session, and the key of the agent in its client.

A request is assigned to a session by its content, because an agent with several sessions need not
name the session. A request is in order while all of its words may come from one session.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import takewhile
from operator import itemgetter
from typing import TypeAlias

from harness.checks.evidence.declarations import needs
from harness.checks.evidence.stored_messages import squeeze
from harness.core.history.exchanges import (
    ENDINGS,
    Ask,
    Crossing,
    Exchange,
    Execution,
    Node,
    Sending,
)
from harness.core.history.history import History
from harness.core.history.trace import Delivery, Trace, children
from harness.core.values.machine_names import DUMMY_KEY
from harness.core.values.messages import Message, canonical, strings_in
from harness.core.values.verdict import Finding

PIECE = 24
"""The characters of a piece of text, without white space: about five words."""

SHORTEST = 12
"""A shorter text of a user is not compared, because two users may both write it."""

_Homes: TypeAlias = frozenset[str] | None
"""The sessions that may have said a text; None: any of them."""

_Event: TypeAlias = Delivery | Crossing
"""The events that may break a rule."""


@needs("model", "inbox", told_by="run", place=150)
def session_isolation(history: History, *, memory: bool = False) -> Iterator[Finding]:
    """A session's requests and replies hold no words that only another session has said.

    The words of a session are its user's messages and the answers of the model and of tools. The
    content of its store before the first message counts too. `message`: the messages of a request
    hold words of two sessions. `system`: the system text holds words of another session than the
    messages. `reply`: an answer to one session's user holds words of another, or goes to another
    session. `tool`: a call of one session's model runs in another session. The check compares
    pieces of 24 characters without white space, and whole texts of a user from 12 characters on.

    Not a finding: a sub-agent and its parent, which are one session here; a sub-agent that works
    in the background of another session's turn; words that the session's
    own user, model or tools have said too; words of the run's first system text; the agent's own
    words that came back to it as a message. With `memory: true` all sessions belong to one user and
    share a memory, so only a copy of a whole message is a finding.

    An agent with one list of messages for all sessions shows each user the words of the others. To
    fix it, keep the history and the caches by session. Source: seed 14.
    """
    trace = history.trace
    if len({delivery.inbound.session for delivery in trace.deliveries}) < 2:
        return
    told: set[str] = set()
    words = _Words(history, memory)
    words.begin(history.trace)
    for _, event in _events(trace):
        for rule, homes, n in words.see(event):
            both = f"{rule} {homes}"
            if both not in told:
                told.add(both)
                text = _in_words(event, rule, homes)
                yield Finding(f"session_isolation.{rule}", text, (n, event.n))


def _in_words(event: _Event, rule: str, homes: str) -> str:
    key = event.called.key if isinstance(event, Crossing) else event.inbound.id
    if isinstance(event, Execution) and rule == "tool":
        where = f"runs in the session {event.called.session}"
        return f"{key}: {event.request.name} {where}, and the model of {homes} asked for it"
    if isinstance(event, Sending) and homes.startswith(_ELSEWHERE):
        return f"{key} goes to the session {event.called.session}, and answers {homes}"
    return f"{key} holds words of {homes}"


_ELSEWHERE = "a message of "


def _events(trace: Trace) -> Iterator[tuple[int, _Event]]:
    """Yield deliveries, requests and sendings at their start, and runs of tools at their end."""
    ran = [(run.answered.n, run) for run in trace.executions if run.answered]
    made: list[Iterable[tuple[int, _Event]]] = [
        [(delivery.n, delivery) for delivery in trace.deliveries],
        [(exchange.n, exchange) for exchange in trace.exchanges],
        [(sending.n, sending) for sending in trace.sendings],
        sorted(ran, key=itemgetter(0)),
    ]
    return merge(*made, key=itemgetter(0))


class _Words:
    """Reads a run in order, and keeps the words of each session so far."""

    def __init__(self, history: History, memory: bool) -> None:
        self._values, self._memory = history.values, memory
        self._said: dict[str, list[str]] = defaultdict(list)
        self._pieces: dict[str, dict[str, int]] = defaultdict(dict)
        self._short: set[str] = set()
        self._found: dict[int | str, tuple[str, ...]] = {}
        self._homes: dict[int, _Homes] = {}
        self._asked_by: dict[int, Iterable[str]] = {}
        self._answers: dict[str, set[str]] = defaultdict(set)
        self._sent: set[tuple[str, str]] = set()
        self._common: str | None = None
        self._made_up: dict[int, set[str]] = defaultdict(set)
        self._own: set[str] = set()
        self._children = frozenset[str]()

    def begin(self, trace: Trace) -> None:
        """Keep the children, and the content of the stored sessions before the first message. They
        may hold results that the agent made up, and it may do so again in any session."""
        self._children = frozenset(children(trace))
        first, results = trace.deliveries[0].n, set[str]()
        for look in trace.stored:
            for row in look.added if look.n < first else ():
                if (message := trace.messages.get(row.digest)) is not None:
                    self._keep([row.session], _text(message), look.n)
                    results |= {squeeze(result.text) for result in message.tool_results}
        for ask in (ask for turn in trace.turns.values() for ask in turn.asks):
            if ask.sent is not None and (ask.execution is None or not ask.execution.text):
                self._made_up[ask.sent_n] |= {squeeze(ask.sent.text)} & results

    def see(self, event: _Event) -> Iterator[tuple[str, str, int]]:
        """Yield each broken rule: the rule, the sessions in words, and the event that said the
        words."""
        match event:
            case Delivery(inbound=inbound):
                self._answers[inbound.id].add(inbound.session)
                # An echo brings the agent's own words back, as `gateway.echoed` does. This user did
                # not say them: an agent may say one apology to everybody. A user who says what
                # another one was told has said it.
                if (inbound.session, squeeze(inbound.text)) not in self._sent:
                    self._keep([inbound.session], inbound.text, event.n, SHORTEST)
            case Exchange():
                yield from self._request(event)
            case Execution(ask=ask, answered=answered) if answered:
                sessions = self._asked_by.get(ask.exchange.n, [""]) if ask else [""]
                self._keep(sessions, _as_sent(event.text, ask), answered.n)
                if (
                    ask
                    and ask.use.id == event.request.id
                    and self._is_elsewhere(event, ask, sessions)
                ):
                    yield "tool", " or ".join(sorted(sessions)), ask.exchange.n
            case Sending():
                yield from self._reply(event)

    def _keep(
        self, sessions: Iterable[str], text: str, n: int, least: int = PIECE, echoed: str = ""
    ) -> None:
        """Keep the words of a session. `sessions` holds several names if it may be any of them, and
        "" if it is unknown. New words that `echoed` holds too are the agent's."""
        said = squeeze(text)
        for session in sessions:
            self._said[session].append(said)
        if len(said) < least:
            return
        if len(said) < PIECE:
            self._short.add(said)
        for session in sessions:
            for piece in [said] if self._memory else _pieces(said):
                if piece not in self._pieces and piece in echoed:
                    continue
                if self._pieces[piece] and session not in self._pieces[piece]:
                    self._homes.clear()  # lists with this piece may belong to this session too
                self._pieces[piece].setdefault(session, n)

    def _request(self, exchange: Exchange) -> Iterator[tuple[str, str, int]]:
        for own in self._made_up.get(exchange.n, ()):
            self._own |= {own[at : at + PIECE] for at in range(max(1, len(own) - PIECE + 1))}
        system = self._system(exchange)
        homes = self._of_list(exchange.node)
        if homes == frozenset():
            pieces = (piece for node in exchange.node.tail() for piece in self._found[id(node)])
            homes, broken = self._all_said_by(pieces)
            if broken:
                yield "message", *broken
        if homes and not self._memory:
            _, broken = self._all_said_by(system, homes)
            if broken:
                yield "system", *broken
        sayers = {*homes, exchange.called.session} if homes else {""}
        self._asked_by[exchange.n] = sayers
        if exchange.reply is not None:
            # A transcript for a summary quotes the inputs of calls, where the model repeats words.
            given = [text for use in exchange.reply.tool_uses for text in strings_in(use.input)]
            echoed = self._echoed(exchange)
            # One by one: an agent may join what its own model said in two answers in this order.
            for said in (exchange.reply.text, *given):
                self._keep(sayers, said, exchange.n, echoed=echoed)

    def _echoed(self, exchange: Exchange) -> str:
        """What a model repeats that echoes its prompt. The agent wrote parts of it for all users:
        orders, refusals, apologies."""
        texts = map(_text, exchange.node.newest())
        system = str(self._values.get(exchange.request.system, ""))
        return squeeze("\n".join([system, *texts]))

    def _system(self, exchange: Exchange) -> tuple[str, ...]:
        """The pieces in a request's system text; the run's first one is common to all sessions."""
        name = exchange.request.system
        text = str(self._values.get(name, ""))
        if self._common is None:
            self._common = squeeze(text)
        if name not in self._found:
            self._found[name] = self._hits(text)
        return self._found[name]

    def _of_list(self, node: Node) -> _Homes:
        """The sessions that may have said a whole list; each node is read once."""
        fresh = list(takewhile(lambda one: id(one) not in self._homes, node.back()))
        homes = self._homes.get(id(fresh[-1].parent if fresh else node))
        for each in reversed(fresh):
            if id(each) not in self._found:
                self._found[id(each)] = () if _opens(each) else self._hits(_text(each.message))
            for piece in self._found[id(each)]:
                homes = _both(homes, self._pieces[piece])
            self._homes[id(each)] = homes
        return homes

    def _hits(self, text: str) -> tuple[str, ...]:
        """The pieces of all earlier words that a text holds."""
        said = squeeze(text)
        # With a shared memory, parts of a text may be known by right; only a whole one tells.
        if self._memory:
            return (said,) if said in self._pieces else ()
        places = range(len(said) - PIECE + 1)
        found = {said[at : at + PIECE] for at in places if said[at : at + PIECE] in self._pieces}
        found |= {short for short in self._short if short in said}
        return tuple(p for p in found - self._own if p not in (self._common or ""))

    def _all_said_by(
        self, pieces: Iterable[str], homes: _Homes = None
    ) -> tuple[_Homes, tuple[str, int] | None]:
        """The sessions that have said all pieces; if there is none, also the names of two sessions
        that said them, and an event.

        The pieces of the index begin at multiples of their length, so whole texts are searched.
        """
        for piece in pieces:
            sayers = {s for s, texts in self._said.items() if any(piece in text for text in texts)}
            both = _both(homes, sayers)
            if both == frozenset():
                names = sorted({min(homes or sayers), min(sayers)})
                return frozenset(), (" and ".join(names), min(self._pieces[piece].values()))
            homes = both
        return homes, None

    def _reply(self, sending: Sending) -> Iterator[tuple[str, str, int]]:
        self._sent.add((sending.called.session, squeeze(sending.request.text)))
        named = sending.named
        homes = frozenset(home for name in named for home in self._answers.get(name, ()))
        if sending.called.session in homes:  # two sessions may use one id
            homes = frozenset({sending.called.session})
        elif homes and sending.request.kind in ENDINGS and self._is_user(sending.called.session):
            yield "reply", f"{_ELSEWHERE}{' and '.join(sorted(homes))}", sending.n
            return
        if not homes and self._is_unasked(sending):
            homes = frozenset({sending.called.session})
        if homes:
            _, broken = self._all_said_by(self._hits(sending.request.text), homes)
            if broken:
                yield "reply", *broken

    def _is_elsewhere(self, run: Execution, ask: Ask, sessions: Iterable[str]) -> bool:
        """Whether a call runs in a session that cannot have asked for it. A child in the background
        works while any turn is open, and a run without a session is taken for the open turn's."""
        if "" in sessions or run.called.session in sessions:
            return False
        return ask.exchange.called.session not in self._children

    def _is_unasked(self, sending: Sending) -> bool:
        """Whether a reply that names no message goes to a session whose user has not written. A
        notice may: a job may tell another chat that it is done."""
        return sending.request.kind in ENDINGS and not self._is_user(sending.called.session)

    def _is_user(self, session: str) -> bool:
        """Whether a message of a session has come."""
        return any(session in sessions for sessions in self._answers.values())


def _as_sent(text: str, ask: Ask | None) -> str:
    """What a tool said, with the few words that the agent writes around it, such as `error:`."""
    sent = ask.sent.text if ask is not None and ask.sent is not None else ""
    said, whole = squeeze(text), squeeze(sent)
    return sent if said in whole and len(whole) - len(said) < SHORTEST else text


def _opens(node: Node) -> bool:
    """Whether a message is part of the system text; some providers keep that text in the list."""
    return all(at.side == "system" for at in node.back())


def _both(homes: _Homes, sayers: Iterable[str]) -> _Homes:
    """The sessions in both sets; an unknown session ("") may be any session."""
    if "" in sayers:
        return homes
    return frozenset(sayers) if homes is None else homes & frozenset(sayers)


def _pieces(said: str) -> Iterator[str]:
    """Split a text into pieces; the last piece ends with the text, and a short text is one
    piece."""
    yield from (said[at : at + PIECE] for at in range(0, len(said) - PIECE + 1, PIECE))
    yield said[-PIECE:]


def _text(message: Message) -> str:
    return "\n".join([message.text, *(result.text for result in message.tool_results)])


@needs("model", told_by="run", place=155)
def key_kept(history: History) -> Iterator[Finding]:
    """The key of the agent stands in the headers of its requests, and in nothing that others read.

    The harness gives each agent a dummy key: by `brief.api_key`, the clients, or the variables
    of the SDKs. `reply`: a message for the user holds it. `tool`: a tool is called with it.

    Not a finding: a key that the user, the model or a tool said before, as a shell does that prints
    its environment.

    An agent told its user why a request had failed, and wrote the whole configuration of its client
    into the chat. To fix it, name the fields of an error that a user may read. Source: unseen:A.
    """
    trace = history.trace
    told = [
        ("reply", "the user reads the key of the agent", each)
        for each in trace.sendings
        if DUMMY_KEY in each.request.text
    ]
    ran = [
        ("tool", f"{run.request.name} is called with the key of the agent", run)
        for run in trace.executions
        if DUMMY_KEY in canonical(run.request.input)
    ]
    for rule, words, event in (*told, *ran):
        if event.n < _key_said_n(trace):
            yield Finding(f"key_kept.{rule}", f"{event.called.key}: {words}", (event.n,))


def _key_said_n(trace: Trace) -> int:
    """The first event in which somebody else than the agent says its key."""
    said = [(each.n, each.inbound.text) for each in trace.deliveries]
    said += [(run.answered.n, run.text) for run in trace.executions if run.answered]
    for exchange in trace.exchanges:
        if exchange.reply is not None:
            inputs = [canonical(use.input) for use in exchange.reply.tool_uses]
            said += [(exchange.n, text) for text in (exchange.reply.text, *inputs)]
    return min((n for n, text in said if DUMMY_KEY in text), default=len(trace.events) + 1)
