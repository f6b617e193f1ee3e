"""The capabilities that one run has used, read from its trace.

A capability is a connection, so its use is a fact about the run and no judgement of quality.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from harness.core.history.events import AnyEvent, Called
from harness.core.history.trace import Trace
from harness.core.values.calls import InboxRequest, StoreRequest
from harness.core.values.messages import Json, Message, Text, ToolResult, ToolUse
from harness.core.values.profile import CAPABILITIES, Capability
from harness.core.values.table_file import pairs
from harness.core.values.tool_names import ToolNames

WORDS_MAX = 200
"""The number of seeded texts to look for: the newest ones, because a compaction keeps them."""

NOT_SEEN: Mapping[str, str] = pairs(__package__, "capability_words.tsv")
"""The action that no run showed if a capability is missing."""


def touched(trace: Trace, seeded: Sequence[Message] = ()) -> frozenset[Capability]:
    """The capabilities that the run of this trace has used; `seeded` is its stored session."""
    is_own = any("store" in start.seams for start in trace.starts)
    has_store = (bool(trace.stored) and not is_own) or _calls_the_store(trace)
    used: dict[Capability, Callable[[], bool]] = {
        "session": lambda: _shows(trace, seeded) or (has_store and _cannot_show(trace, seeded)),
        "store": lambda: has_store,
        "own_store": lambda: is_own and any(look.added for look in trace.stored),
        "cancel": lambda: (
            bool(trace.ended and trace.ended.polled) or any(map(_asks_for_cancels, trace.events))
        ),
        "compaction": lambda: any(e.called.purpose == "compact" for e in trace.exchanges),
        "streaming": lambda: any(e.request.stream for e in trace.exchanges),
        "sub_agents": lambda: any(e.called.parent for e in trace.exchanges),
        "outbox": lambda: bool(trace.sendings),
        "restarts": lambda: len(trace.starts) > 1,
        "tools": lambda: _offers(trace),
        "approvals": lambda: bool(trace.questions),
    }
    return frozenset(name for name in CAPABILITIES if used[name]())


TELLING = 12
"""The least number of characters of a text by which one run is known in another."""

_SAID_MOST, _TEXT_MOST = 30, 60


def said_in(trace: Trace) -> tuple[str, ...]:
    """What the user and the model said in a run, abridged: by this it is known in another run."""
    inbound = [delivery.inbound.text for delivery in trace.deliveries]
    return _telling([*inbound, *(e.reply.text for e in trace.exchanges if e.reply)])


def past_of(trace: Trace, seeded: Sequence[Message] = ()) -> tuple[str, ...]:
    """What stands in the first request, and was neither said in the run before nor is seeded.

    The model has not answered then, so its words there come from elsewhere: a prompt, or a run
    before this one.
    """
    first = next(iter(trace.exchanges), None)
    added = first.added if first else ()
    given = [*(d.inbound.text for d in trace.deliveries), *(message.text for message in seeded)]
    # Agents join rows of one side, and keep white space in their own ways: lines are compared.
    known = {line for text in (*given, *_laid(trace)) for line in _lines(text)}
    sizes = sorted({len(line) for line in known})
    texts = [node.message.text for node in added if node.message.role in ("user", "assistant")]
    return _telling(
        text
        for text in texts
        if not all(line in known or _is_joined(line, known, sizes) for line in _lines(text))
    )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _is_joined(line: str, known: Collection[str], sizes: Sequence[int]) -> bool:
    """Whether a line is made of known ones, as where an API keeps parts of a text side by side."""
    ends = [0]
    for at in ends:
        found = {at + n for n in sizes if line[at : at + n] in known and at + n <= len(line)}
        ends += found.difference(ends)
    return len(line) in ends


def _laid(trace: Trace) -> Iterator[str]:
    """The texts that a fault has laid into the harness's own store, which is new in each run."""
    look = trace.stored[0] if trace.stored and _calls_the_store(trace) else None
    for row in look.added if look else ():
        if message := trace.messages.get(row.digest):
            yield message.text


def _telling(texts: Iterable[str]) -> tuple[str, ...]:
    found = dict.fromkeys(t.strip()[:_TEXT_MOST] for t in texts if len(t.strip()) >= TELLING)
    return tuple(islice(found, _SAID_MOST))


def _calls_the_store(trace: Trace) -> bool:
    return any(isinstance(e, Called) and isinstance(e.request, StoreRequest) for e in trace.events)


def _offers(trace: Trace) -> bool:
    """Whether the agent has a tool of the scenario. Results as text mean tools told in a text."""
    known: dict[str, Json] = trace.settings.get("tools", {})
    names = ToolNames(known, trace.profile)
    offers = any(names.meant_by(tool) in known for tool in trace.offered)
    return offers or bool(trace.executions) or trace.profile.results == "text"


def _shows(trace: Trace, seeded: Sequence[Message]) -> bool:
    """Whether a request holds a text that the agent can only know from the stored session."""
    words = _unheard(trace, words_of(seeded))
    shown = (node.message for exchange in trace.exchanges for node in exchange.added)
    return bool(words) and any(
        word in text for message in shown for text in _texts(message) for word in words
    )


def hides(trace: Trace, seeded: Sequence[Message]) -> bool:
    """Whether the stored session has words of the user, and no request holds a text of it."""
    return bool(seeded) and not _shows(trace, seeded) and not _cannot_show(trace, seeded)


def _cannot_show(trace: Trace, seeded: Sequence[Message]) -> bool:
    """Whether the stored session has no words of the user, so that an agent may leave it out."""
    asked = [message for message in seeded if message.role == "user" and message.text.strip()]
    return bool(seeded) and not _unheard(trace, words_of(asked))


def _asks_for_cancels(event: AnyEvent) -> bool:
    request = event.request if isinstance(event, Called) else None
    return isinstance(request, InboxRequest) and (request.poll or request.cancels)


def _unheard(trace: Trace, words: list[str]) -> list[str]:
    heard = "\n".join(_heard(trace)) if words else ""
    return [word for word in words if word not in heard]


def words_of(seeded: Sequence[Message]) -> list[str]:
    """The texts of a stored session by which it can be recognised, the newest first."""
    texts = (text.strip() for message in reversed(seeded) for text in _texts(message))
    return list(dict.fromkeys(text for text in texts if text))[:WORDS_MAX]


def _texts(message: Message) -> Iterator[str]:
    """Yield the texts of a message: its text, the ids of its calls, and the texts of its
    results."""
    for block in message.blocks:
        match block:
            case Text(text=text):
                yield text
            case ToolUse(id=id):
                yield id
            case ToolResult(id=id):
                yield from (id, block.text)


def _heard(trace: Trace) -> Iterator[str]:
    """Yield the texts of user, model and tools, which an agent without the stored session may
    know."""
    for delivery in trace.deliveries:
        yield delivery.inbound.text
    for exchange in trace.exchanges:
        if exchange.reply:
            yield from _texts(exchange.reply)
    for execution in trace.executions:
        yield execution.text
