"""The ports: the interfaces between parts, which extensions implement.

Each is a function or has one to three methods. An import path names an extension; there is no
registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from harness.core.history.events import Answered, Called, StoredRow
from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.values.calls import Call, ProviderRequest, Purpose
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, Message, Thinking, ToolSpec
from harness.core.values.plans import (
    WINDOW_FULL,
    ApiError,
    Facts,
    Plan,
    Recorded,
    Reply,
    Send,
    Value,
)
from harness.core.values.tool_names import ToolNames
from harness.core.values.verdict import Finding


class Violation(msgspec.Struct, frozen=True, gc=False):
    """A rule that a request breaks, with the answer that the provider gives for it.

    `since` is the day on which the provider introduced the rule (YYYY-MM-DD), "" for always.
    `path` is the field of the request that the answer names, "" where it names none.
    """

    rule: str
    error: ApiError
    since: str = ""
    path: str = ""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A request as a wire reads it.

    The first `keep` messages are those of the same reader's last reading; `added` holds the rest,
    and `messages` holds all of them. `violations` holds the broken rules of the dialect in order.
    `tokens` is the size of the prompt. `settings` holds the other fields of the body. `purpose` is
    the purpose of the request, if the API has a field for it. `unread`: the body, or the
    conversation that it continues, is unreadable, so messages are missing here.
    """

    model: str
    messages: Sequence[Message]
    keep: int
    added: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tools_offered: bool = False
    max_tokens: int | None = None
    stream: bool = False
    settings: dict[str, Json] = {}
    tokens: int = 0
    violations: tuple[Violation, ...] = ()
    purpose: Purpose | Literal[""] = ""
    unread: bool = False

    def complete(self, reply: Reply) -> Reply:
        """The reply with the provider's additions (signatures); unchanged by default."""
        return reply

    def signed(self, reply: Reply) -> Reply:
        """The reply with signed thinking, after faults; unchanged by default."""
        return reply


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """An answer's body as a wire reads it; `complete`: its terminal event is present."""

    message: Message | None
    stop: str | None = None
    usage: dict[str, Any] = {}
    complete: bool = True
    error: ApiError | None = None


class Reader(Protocol):
    """Reads the requests of one session in order; it may remember only the last one."""

    def read(self, body: bytes) -> Reading:
        """A request's bytes as values. Bytes that are not a request become a violation."""


class IssuedThinking:
    """The thinking of one run that an agent may send back although nothing verifies its signature.

    It was stored before the run, or sent by the provider in the run: a script, a fault or a
    recording may set any signature. It is known by its signature, a redacted block by its data.
    What another provider has sent in the run is not issued by this one.
    """

    def __init__(
        self, history: History, stored: Iterable[Message] = (), provider: str = ""
    ) -> None:
        self._history, self._read, self._provider = history, 0, provider
        self._foreign: set[str] = set()
        self._texts: dict[str, set[str]] = {}
        for message in stored:
            self._take(message)

    def texts(self, signature: str) -> Iterable[str]:
        """The texts with a signature; empty for an unknown signature.

        A provider asks only where its own check has failed. So the history is read here, and most
        runs never read it.
        """
        events = self._history.events
        for event in events[self._read :]:
            if isinstance(event, Called) and self._provider not in ("", event.provider):
                self._foreign.add(event.key)
            elif not isinstance(event, Answered) or event.key in self._foreign:
                continue
            elif event.seam == "model" and event.blocks:
                self._take(self._history.messages[event.blocks])
        self._read = len(events)
        return self._texts.get(signature, ())

    def _take(self, message: Message) -> None:
        for block in message.blocks:
            if isinstance(block, Thinking) and (name := block.redacted or block.signature):
                self._texts.setdefault(name, set()).add(block.text)


@runtime_checkable
class SigningReader(Protocol):
    """A reader of a provider that signs thinking. Without `expect` it accepts foreign
    signatures."""

    def expect(self, issued: IssuedThinking) -> None:
        """Refuse, from now on, signatures that are neither the provider's own nor issued."""


@runtime_checkable
class KeepingReader(Protocol):
    """A reader of a provider that keeps conversations: they outlive the agent and its process."""

    def kept(self) -> bytes:
        """What is kept, in a form of the reader's own; empty for nothing."""

    def keep(self, kept: bytes) -> None:
        """Go on from what another reader of the session kept."""


class Endpoint(Protocol):
    """An address at which another host offers the provider's models."""

    def refused(self, body: bytes, dialect: str) -> tuple[Violation, ...]:
        """The rules of the host that a body breaks, before the provider's rules apply."""

    def sent(self, plan: Plan) -> Plan:
        """The plan as the host sends it: with its error texts, headers and framing."""


class WireHeaders(msgspec.Struct, frozen=True):
    """The headers of a wire that mean something to the transition, in small letters.

    In a request, the history keeps those in `kept` and `helper`, and `retry_count` counts the SDK's
    retries. Those in `passing`, or with one of `passing_starts`, do not belong to what is asked.
    They are about the connection, or new with each try. An authorization that begins with one of
    `signed_starts` signs one request, so it is new with each try too.
    In an answer, `wait_ms` asks for a wait in milliseconds, and `final` says not to ask again.
    """

    kept: tuple[str, ...] = ()
    helper: str = ""
    retry_count: str = ""
    passing: frozenset[str] = frozenset()
    passing_starts: tuple[str, ...] = ()
    signed_starts: tuple[str, ...] = ()
    wait_ms: str = ""
    final: tuple[tuple[str, str], ...] = ()


def _error_event(error: ApiError) -> bytes:
    said = {"error": {"type": error.type, "message": error.message}}
    return b"data: " + msgspec.json.encode(said) + b"\n\n"


class ProviderTraits(msgspec.Struct, frozen=True):
    """The forms that a provider's answers take only under a fault, and the SDK's reading of them.

    The core names no provider; each provider's record gives the values.

    `endpoint` is the last part of the path, for relative redirects. `arguments` is the form of a
    call's arguments in a plain answer: an `object`, `json` text, or free `text`. `keep_alive` is
    the event that keeps a stream alive, b"" for none. `own_error` puts an error that names a
    neutral cause into the provider's words. `requests_left` is the header with the number of
    remaining requests. `output_count` is the name of the output tokens in a usage. `event_prefix`
    is the prefix of all event types. `error_event` writes an error in a stream, one that is in the
    provider's words already. `model_field` is the field of an answer that names the model,
    `other_model` a model that was not asked for. `window_full` is the stop reason that a client
    reads of an answer that ends at the window: some APIs have no word for it. `hollow` writes a
    model's answer with null content, plain or as a stream. `outline` takes the body of a plain
    answer and writes the first and the last events of the same answer as a stream. `names_events`:
    the SDK drops events without a name. `reads_past_the_end`: the SDK raises an error that comes
    after the terminal event.
    """

    endpoint: str = ""
    arguments: Literal["object", "json", "text"] = "json"
    keep_alive: bytes = b""
    own_error: Callable[[ApiError], ApiError] = lambda error: error
    requests_left: str = "ratelimit-remaining"
    output_count: str = "output_tokens"
    event_prefix: str = ""
    names_events: bool = False
    reads_past_the_end: bool = False
    error_event: Callable[[ApiError], bytes] = _error_event
    model_field: str = "model"
    other_model: str = ""
    window_full: str = WINDOW_FULL
    hollow: Callable[[str, bool], tuple[bytes, ...]] = lambda model, stream: (b"",)
    outline: Callable[[Mapping[str, Json]], bytes] = lambda body: b""


class Provider(Protocol):
    """A provider's API: bytes to values and back, and the rules of its dialects."""

    name: str

    @property
    def headers(self) -> WireHeaders:
        """The headers that mean something on the wire."""

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the wire answers; `{model}` in one stands for any segment."""

    def complete_body(self, path: str, query: str, body: bytes) -> bytes:
        """A request's body, completed with the fields that the API has in the URL."""

    def endpoint(self, path: str) -> Endpoint | None:
        """The endpoint of another host at a path; None for an address of the provider's own."""

    def reader(self, dialect: str, window_tokens: int | None) -> Reader:
        """A reader for one session in one dialect."""

    def write(
        self, value: Reply | ApiError | Recorded, reading: Reading, key: str, draws: Draws
    ) -> tuple[Send, ...]:
        """A value as the bytes of an answer: one send for each event of a stream."""

    def parse(self, body: bytes, content_type: str) -> Parsed:
        """An answer's body (JSON, or a whole stream) as values."""

    def refuse(self, messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
        """The rules of the dialect that a list of messages breaks, for recordings."""

    def refusals(self) -> Mapping[str, ApiError]:
        """Each rule's answer by the rule's id, with a template as text, for faults that force
        one."""

    def refuses_size(self, error: ApiError) -> bool:
        """Whether an error refuses a request for its size, by its code or its words."""

    def says_size(self, text: str) -> bool:
        """Whether a message, written in place of an answer, says that the request is too large."""

    def traits(self) -> ProviderTraits:
        """The facts about the provider that faults need."""


@runtime_checkable
class FactsProvider(Protocol):
    """A wire whose provider also answers requests for facts: token counts, models."""

    def question(self, method: str, path: str) -> ProviderRequest | None:
        """The request for facts at an endpoint; None if there is no such endpoint."""

    def facts(
        self, asked: ProviderRequest, body: bytes, reader: Reader, window_tokens: int | None
    ) -> tuple[ProviderRequest, Facts | ApiError]:
        """The request, completed from its body, and the answer."""

    def write_facts(self, value: Facts | ApiError, key: str, draws: Draws) -> tuple[Send, ...]:
        """The answer as bytes."""


class Miss(msgspec.Struct, frozen=True, gc=False):
    """A script has no answer that fits a request; `text` says why, `code` is the finding.

    `cassette.miss`: a recording lacks the request. `script.unoffered`: the answer that is due calls
    what the request does not offer.
    """

    text: str
    code: Literal["cassette.miss", "script.unoffered"] = "cassette.miss"


class Script(Protocol):
    """The script of a run: the answers of the fake model.

    A script of recorded answers has `recorded = True`: a recorded answer, also a refusal, takes
    precedence over our dialect; `wires` are the providers that it has answers of, the run's own if
    it names none. One that tells of calls which do not fit their request has
    `fits_offers = True`; for any other the model says words in their place.
    """

    def reply(self, call: Call, past: Past) -> tuple[Value, int | None] | Miss | None:
        """The answer to a call and the index of its turn; None past the end; or a miss.

        The index is None for an answer that is not a turn of the script.
        """

    def unplayed(self, past: Past) -> Iterable[str]:
        """The required turns that were never played, in words."""


class Moment(msgspec.Struct, frozen=True, gc=False):
    """The input of a fault: the call, the past, its own draws, and facts about the provider.

    `firing` counts the firings of an escalating fault, with this one; 1 for others. `refusals`
    holds the provider's answer for each broken rule; `traits` holds the other facts that a fault
    needs. `names` are the agent's names of the scenario's tools.
    """

    call: Call
    past: Past
    draws: Draws
    firing: int
    wire: str = ""
    refusals: Mapping[str, ApiError] = {}
    traits: ProviderTraits = ProviderTraits()
    names: ToolNames = ToolNames()

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that a fault may call: a program's own tools count only if it offers none of
        the scenario's, because the harness does not see their runs."""
        return self.names.of_the_scenario(self.call.tools)

    @property
    def harder(self) -> int:
        """The factor by which an escalating fault is harder now: 1, 2, 4, … up to 2**20."""
        return int(2 ** min(self.firing - 1, 20))

    def grown(self, size: int, most: int) -> int:
        """A size that doubles while it escalates, up to a bound; one over the bound stays."""
        return max(size, min(size * self.harder, most))


FaultFunction = Callable[..., Plan]
"""`(moment, plan, **settings) -> plan`; returning the plan unchanged is the identity."""


CheckFunction = Callable[..., Iterator[Finding]]
"""`(history, **settings) -> findings`."""


class Store(Protocol):
    """The store of an agent's session, as the harness reads it."""

    name: str

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """All active rows in order, with their messages."""
