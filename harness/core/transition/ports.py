"""The ports: the interfaces between parts, which extensions implement.

Each is a function or has one to three methods. An import path names an extension; there is no
registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from harness.core.history.events import StoredRow
from harness.core.history.past import Past
from harness.core.transition.issued_thinking import IssuedThinking
from harness.core.values.calls import Call, ProviderRequest, Purpose
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, Message, ToolSpec
from harness.core.values.plans import ApiError, Facts, Plan, Recorded, Reply, Send, Value
from harness.core.values.provider_traits import ProviderTraits
from harness.core.values.tool_names import ToolNames
from harness.core.values.verdict import Finding


class Violation(msgspec.Struct, frozen=True, gc=False):
    """A rule that a request breaks, with the answer that the provider gives for it.

    `since` is the day from which the provider has the rule (YYYY-MM-DD), "" for always.
    """

    rule: str
    error: ApiError
    since: str = ""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A request as a wire reads it.

    The first `keep` messages are those of the same reader's last reading; `added` are the rest,
    `messages` all of them. `violations` are what the dialect refuses, first one first; `tokens` is
    the size of the prompt; `settings` are all fields of the body that have no name here. `purpose`
    is what the request is for, where the API itself has a field that says so. `unread`: the body,
    or the conversation that it continues, cannot be read, so that messages are missing here.
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
        """The reply with what the provider adds of its own (signatures); the reply by default."""
        return reply

    def signed(self, reply: Reply) -> Reply:
        """The reply with its thinking signed, after faults; the reply by default."""
        return reply


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """An answer's body as a wire reads it; `complete` once its terminal event has come."""

    message: Message | None
    stop: str | None = None
    usage: dict[str, Any] = {}
    complete: bool = True
    error: ApiError | None = None


class Reader(Protocol):
    """Reads the requests of one session in order; it may remember the last one, nothing else."""

    def read(self, body: bytes) -> Reading:
        """A request's bytes as values. What is no request at all comes back as a violation."""


@runtime_checkable
class SigningReader(Protocol):
    """A reader of a provider that signs thinking. Without `expect` foreign signatures are taken."""

    def expect(self, issued: IssuedThinking) -> None:
        """From now on refuse signatures that are neither the provider's own nor issued."""


class Provider(Protocol):
    """A provider's API: bytes to values and back, and what its dialects refuse.

    `kept_headers` are headers of a request that the history keeps.
    """

    name: str
    kept_headers: tuple[str, ...]

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the wire answers; `{model}` in one stands for any segment."""

    def complete_body(self, path: str, query: str, body: bytes) -> bytes:
        """A request's body with the fields that the API has in the address in their place."""

    def reader(self, dialect: str, window_tokens: int | None) -> Reader:
        """A reader for one session in one dialect."""

    def write(
        self, value: Reply | ApiError | Recorded, reading: Reading, key: str, draws: Draws
    ) -> tuple[Send, ...]:
        """A value as the bytes of an answer: one send for each event of a stream."""

    def parse(self, body: bytes, content_type: str) -> Parsed:
        """An answer's body (JSON, or a whole stream) as values."""

    def refuse(self, messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
        """What the dialect refuses in a list of messages: the same rules, for recordings."""

    def refusals(self) -> Mapping[str, ApiError]:
        """Every rule's answer by the rule's id, its text a template: for faults that force one."""

    def traits(self) -> ProviderTraits:
        """What faults ask about the provider."""


@runtime_checkable
class FactsProvider(Protocol):
    """A wire whose provider also answers questions for facts: token counts, models."""

    def question(self, method: str, path: str) -> ProviderRequest | None:
        """What is asked at an endpoint; None where there is none."""

    def facts(
        self, asked: ProviderRequest, body: bytes, reader: Reader, window_tokens: int | None
    ) -> tuple[ProviderRequest, Facts | ApiError]:
        """The question with what its body says, and the answer."""

    def write_facts(self, value: Facts | ApiError, key: str, draws: Draws) -> tuple[Send, ...]:
        """The answer as bytes."""


class Endpoint(Protocol):
    """An address at which another host offers the provider's models."""

    def refused(self, body: bytes, dialect: str) -> tuple[Violation, ...]:
        """What the host refuses in a body before the provider's rules are asked."""

    def sent(self, plan: Plan) -> Plan:
        """The plan as the host sends it: its words of errors, its headers, its framing."""


@runtime_checkable
class HostedProvider(Protocol):
    """A provider whose models other hosts offer too."""

    def endpoint(self, path: str) -> Endpoint | None:
        """The other host's endpoint at a path; None for an address of the provider's own."""


class Miss(msgspec.Struct, frozen=True, gc=False):
    """A recording has no answer to a request; `text` says what is nearest."""

    text: str


class Script(Protocol):
    """What the fake model, the tools and the user say.

    A script of recorded answers has `recorded = True`: what a provider really said, refusals too,
    comes before what our dialect would say.
    """

    def reply(self, call: Call, past: Past) -> tuple[Value, int | None] | Miss | None:
        """The answer to a call and the index of its turn, None past the end, or a miss.

        The index is None for an answer that is no turn of the script.
        """

    def unplayed(self, past: Past) -> Iterable[str]:
        """What was owed and never played, in words."""


class Moment(msgspec.Struct, frozen=True, gc=False):
    """When a fault is asked: the call, the past, draws of its own, and the run's wire.

    `firing` counts how often an escalating fault has fired, this time included; 1 for others.
    `refusals` are what the provider answers for a rule that is broken, `traits` what else a fault
    asks about it. `names` are the agent's names of the scenario's tools.
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
        """The tools that a fault may call: a program's own ones only where it offers none of the
        scenario's, for nobody sees what the program does with them."""
        return self.names.of_the_scenario(self.call.tools)

    @property
    def harder(self) -> int:
        """How many times as hard an escalating fault strikes by now: 1, 2, 4, … up to 2**20."""
        return int(2 ** min(self.firing - 1, 20))


FaultFunction = Callable[..., Plan]
"""`(moment, plan, **settings) -> plan`; returning the plan unchanged is the identity."""


CheckFunction = Callable[..., Iterator[Finding]]
"""`(history, **settings) -> findings`."""


class Store(Protocol):
    """Where an agent keeps its session, as the harness reads it."""

    name: str

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """All active rows in order, with their messages."""
