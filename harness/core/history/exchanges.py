"""Calls with their answers: model exchanges, tool executions, sendings to the user.

Message lists are paths in a tree of `Node`s, so a run costs only what its requests add.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile

import msgspec

from harness.core.history.events import Answered, Called
from harness.core.values.calls import (
    Approval,
    ApprovalRequest,
    ModelRequest,
    OutboxRequest,
    Purpose,
    ToolRequest,
)
from harness.core.values.messages import (
    Json,
    Message,
    Side,
    ToolResult,
    ToolUse,
    canonical,
    reads_alike,
    side,
    without_blanks,
)
from harness.core.values.plans import WINDOW_FULL, Close, Kill, waited_ms, words


class Node:
    """A message at its place: the list that ends with it. The root, of depth 0, has no message.
    `calls` and `results` are the message's, listed once for all checks."""

    __slots__ = ("calls", "children", "depth", "digest", "message", "parent", "results", "side")

    def __init__(self, parent: Node | None, digest: str, message: Message) -> None:
        self.parent, self.digest, self.message = parent, digest, message
        self.depth: int = parent.depth + 1 if parent else 0
        self.side: Side = side(message)
        self.calls, self.results = message.tool_uses, message.tool_results
        self.children: dict[str, Node] = {}

    def child(self, digest: str, message: Message) -> Node:
        """The list with one more message."""
        if (node := self.children.get(digest)) is None:
            others = self.children.values() if message.tool_results else ()
            alike = (each for each in others if reads_alike(each.message, message))
            node = self.children[digest] = next(alike, None) or Node(self, digest, message)
        return node

    def first(self, depth: int) -> Node:
        """The list of its first `depth` messages."""
        node = self
        while node.depth > depth and node.parent is not None:
            node = node.parent
        return node

    def back(self) -> Iterator[Node]:
        """The nodes from this one to the first message, the newest first."""
        node: Node | None = self
        while node is not None and node.depth:
            yield node
            node = node.parent

    def tail(self, stop: Node | None = None) -> tuple[Node, ...]:
        """The nodes after `stop` (all of them without it), oldest first."""
        return tuple(takewhile(lambda node: node is not stop, self.back()))[::-1]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole list."""
        return tuple(node.message for node in self.tail())

    def newest(self) -> tuple[Message, ...]:
        """The user's messages at the end of the list, oldest first; system ones skipped."""
        last = takewhile(lambda node: node.side in ("user", "system"), self.back())
        return tuple(node.message for node in last if node.side == "user")[::-1]


def root() -> Node:
    """An empty list, from which the others grow."""
    return Node(None, "", Message("system"))


def grow(node: Node, messages: Iterable[tuple[str, Message]]) -> Node:
    """The list with these messages (digest and value) added."""
    for digest, message in messages:
        node = node.child(digest, message)
    return node


TRANSIENT_STATUSES = frozenset({408, 409, 429})
"""The 4xx statuses that may not occur on a later attempt."""

HTTP_TOO_LARGE = 413

SIZE_RULES = frozenset({"V23", "V24", "V26", "V27", "V27a"})
"""The dialects' rules of size: window, window with the reply, an image's bytes and edges."""

ENDINGS = frozenset({"final", "error"})
"""The outbox kinds that end a turn."""


_PIECE, _SHORTEST = 20, 4
"""The characters at both ends by which a text is known, and the fewest that tell anything."""


class Crossing(msgspec.Struct, eq=False):
    """A call of the agent, by its event."""

    called: Called

    @property
    def n(self) -> int:
        """The event of the call."""
        return self.called.n


_UNREAD = frozenset(f"sse.{kind}" for kind in ("json_to_a_stream_request", "late_message_start"))
"""Faults after which SDKs find no word of an answer (measured, tests/wire_table)."""


class Exchange(Crossing, eq=False):
    """A model request with its answer; `node` is its list of messages, `added` the new ones."""

    request: ModelRequest
    node: Node
    answered: Answered | None = None
    reply: Message | None = None
    used_as: Purpose | None = None

    @property
    def purpose(self) -> Purpose:
        """The purpose of the request: as its answer was used (`used_as`), or as it was said."""
        return self.used_as or self.called.purpose

    @property
    def added(self) -> tuple[Node, ...]:
        """The messages that the request before does not hold."""
        return self.node.tail(self.node.first(self.node.depth - len(self.request.messages)))

    @property
    def content(self) -> tuple[object, ...]:
        """A key that is equal for two requests with the same content."""
        r = self.request
        return id(self.node), self.called.provider, r.model, r.system, r.tools, r.max_tokens

    @property
    def whole(self) -> tuple[object, ...]:
        """Equal for requests with equal fields and headers; unreadable ones compare by length."""
        r = self.request
        unread = self.called.bytes if r.unread else 0
        return *self.content, r.stream, r.settings, r.header_set, unread

    @property
    def status(self) -> int | None:
        """The HTTP status of the answer; None without an answer, or if it was not recorded."""
        return self.answered.status if self.answered else None

    @property
    def stop(self) -> str | None:
        """The stop reason of an answer with its end; None for an answer that was cut off."""
        return self.answered.stop if self.answered and not self.is_cut else None

    @property
    def is_cut(self) -> bool:
        """Whether the end of the answer never came."""
        a = self.answered
        return a is not None and not (a.complete or a.said_all)

    @property
    def succeeded(self) -> bool:
        """Whether a complete answer arrived that is not an error."""
        a = self.answered
        return a is not None and a.complete and a.outcome == "ok" and (a.status or 200) < 400

    @property
    def transient(self) -> bool:
        """Whether it failed in a way that a later attempt may not repeat."""
        if self.answered is None or self.succeeded:
            return False
        status = self.status or 500
        return not 400 <= status < 500 or status in TRANSIENT_STATUSES

    def is_bent_by(self, *layers: str) -> bool:
        """Whether a fault of one of these layers bent the answer: a client may fail to read it."""
        a = self.answered
        return a is not None and any(a.layer_of(fault) in layers for fault in a.faults)

    @property
    def is_unreadable(self) -> bool:
        """Whether the network broke it off. An SDK reads an error's body before its status."""
        steps = self.answered.steps if self.answered else ()
        broken = any(isinstance(step, Close) for step in steps)
        return broken and self.is_bent_by("transport")

    @property
    def too_large(self) -> bool:
        """Whether the answer refuses the request for its size, in any form."""
        a = self.answered
        if a is None or self.is_unreadable or not _UNREAD.isdisjoint(a.faults):
            return False  # nothing was received
        if a.outcome != "ok" and a.status is None and a.faults:
            return False
        # A fault may answer 529 in place of the refusal.
        named = a.error in SIZE_RULES and (a.status == 200 or not self.transient)
        return a.too_large or named or a.status == HTTP_TOO_LARGE or self.stop == WINDOW_FULL

    def goes_on_from(self, last: Exchange, before: Exchange | None) -> bool:
        """Whether a request for a summary goes on from the one before: again, with less, or on."""
        said = last.reply
        if (last.too_large or last.is_unreadable) and self.size < last.size:
            return True  # a refusal for size that broke off may have been understood by its status
        is_empty = said is not None and not (said.text.strip() or said.tool_uses)
        passes = is_empty or last.transient or last.is_unreadable
        if passes or before is None or said is None:
            return passes and last.content == self.content
        seen, now = (without_blanks("".join(e.texts)) for e in (last, self))
        ends = (p for t in map(without_blanks, before.texts) for p in (t[:_PIECE], t[-_PIECE:]))
        return any(len(p) >= _SHORTEST and p in now and p not in seen for p in ends)

    @property
    def texts(self) -> Iterator[str]:
        """The texts of its messages, and of the results in them."""
        for message in self.node.messages:
            yield message.text
            yield from (result.text for result in message.tool_results)

    @property
    def ended_ms(self) -> int:
        """The end of the answer on the run's clock, after its waits."""
        return self.answered.at_ms + waited_ms(self.answered.steps) if self.answered else 0

    @property
    def size(self) -> int:
        """The prompt's size: tokens if they are counted, else bytes."""
        return self.called.tokens or self.called.bytes


class Execution(Crossing, eq=False):
    """A tool run across the tool seam; `ask` is the model's call that it carries out, if any."""

    request: ToolRequest
    ask: Ask | None = None
    answered: Answered | None = None

    @property
    def failed(self) -> bool:
        """Whether the tool reported an error, raised, or did not answer in time."""
        return self.answered is not None and answer_failed(self.answered)

    @property
    def given_up(self) -> bool:
        """Whether the caller had continued before the answer arrived, and so never saw it."""
        ask = self.ask
        if ask is None or ask.sent is None or self.answered is None:
            return False
        return self.comes_after(ask.sent_ms)

    def comes_after(self, at_ms: int) -> bool:
        """Whether the caller waits for its answer, and the answer arrives after this time."""
        wait_ms = waited_ms(self.answered.steps) if self.answered else 0
        return self.answered is not None and wait_ms > 0 and at_ms < self.answered.at_ms + wait_ms

    @property
    def text(self) -> str:
        """The readable part of the answer, or of the failure."""
        return answer_text(self.answered) if self.answered else ""

    @property
    def identity(self) -> tuple[str, str]:
        """The tool and its canonical input."""
        return self.request.name, canonical(self.request.input)

    @property
    def triple(self) -> tuple[str, str, str]:
        """The tool, its canonical input, and the result as the caller saw it."""
        if self.answered is None or self.given_up:
            return *self.identity, ""
        return *self.identity, canonical(_came(self.answered))


class Question(Crossing, eq=False):
    """A request for approval: the call that the user was shown, and the answer."""

    request: ApprovalRequest
    answered: Answered | None = None

    @property
    def approval(self) -> Approval | None:
        """What the user answered; None without an answer, or if a kill came before the agent could
        read it."""
        a = self.answered
        if a is None or not a.value or any(isinstance(step, Kill) for step in a.steps):
            return None
        return msgspec.convert(a.value, Approval)

    @property
    def is_allowed(self) -> bool:
        """Whether the answer allows this call."""
        said = self.approval
        return said is not None and said.answer == "allow" and said.id == self.request.id

    @property
    def is_edited(self) -> bool:
        """Whether the user allows the call with another input than the one that was shown."""
        said = self.approval
        return said is not None and said.input not in (None, self.request.input)

    def answer_at(self, at_ms: int) -> Approval | None:
        """The answer, if it had come by this time: an agent may give up the wait for it."""
        a = self.answered
        return self.approval if a and a.at_ms + waited_ms(a.steps) <= at_ms else None


class Ask(msgspec.Struct, eq=False):
    """A tool call that the model requests, with its run and its result.

    `execution` is its first run across the tool seam; `sent` is the first result for it in a later
    request, at event `sent_n` and time `sent_ms`. Without a run it is the agent's own answer.
    `questions` are those to the user whether it may run.
    """

    exchange: Exchange
    use: ToolUse
    execution: Execution | None = None
    sent: ToolResult | None = None
    sent_n: int = 0
    sent_ms: int = 0
    questions: list[Question] = msgspec.field(default_factory=list)

    def questions_before(self, n: int) -> list[Question]:
        """The questions about the call before an event, in their order."""
        return [question for question in self.questions if question.n < n]

    @property
    def refused(self) -> bool:
        """Whether the agent answered the call without running it."""
        return self.sent is not None and self.execution is None


class Sending(Crossing, eq=False):
    """A message to the user. `asked`: the requests of its turn, if only texts tell of failures.

    `is_question`: it asks whether calls may run that stand open, and the next turn has run or
    refused them before its first request. Until that turn shows it, it is taken for a question.
    `answer_n` is the event of a message that has answered it while its own turn went on, else 0.
    """

    request: OutboxRequest
    answered: Answered | None = None
    asked: list[Exchange] | None = None
    is_question: bool = False
    answer_n: int = 0

    @property
    def named(self) -> tuple[str, ...]:
        """The ids of the messages that it answers, in the agent's order."""
        request = self.request
        return (request.in_reply_to, *request.also) if request.in_reply_to else ()

    @property
    def ends_turn(self) -> bool:
        """Whether it is a final or an error that the outbox accepted."""
        taken = self.answered is not None and self.answered.complete
        return taken and self.request.kind in ENDINGS


def _came(answered: Answered) -> Json:
    """The received answer, without the tool's hidden change of its input."""
    value = answered.value
    if isinstance(value, dict) and value.get("how") == "input_changed":
        value = {name: part for name, part in value.items() if name != "how"}
    return [value, answered.outcome, tuple(map(words, answered.steps)) if value is None else ()]


def answer_failed(answered: Answered) -> bool:
    """Whether a tool's answer is a failure: by its flag, or because it raised or timed out."""
    value = answered.value
    flagged = isinstance(value, dict) and bool(value.get("is_error"))
    return flagged or answered.outcome != "ok"


def answer_text(answered: Answered) -> str:
    """The readable part of a tool's answer; the steps when it did not answer."""
    if not isinstance(answered.value, dict):
        return ", ".join(map(words, answered.steps))
    content = answered.value.get("content", "")
    if isinstance(content, (list, tuple)):
        return "\n".join(str(b["text"]) for b in content if isinstance(b, dict) and "text" in b)
    if content is None:
        return ""
    return content if isinstance(content, str) else canonical(content)
