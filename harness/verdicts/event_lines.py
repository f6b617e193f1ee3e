"""One event, one readable line: `model <- ...` is a request, `model -> ...` its answer.

Texts are cut to `CUT` characters; the history has the whole value. Events that only carry values
(`message`, `value`) have no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.history.events import (
    Accepted,
    Answered,
    AnyEvent,
    Called,
    Effected,
    Ended,
    Killed,
    Marked,
    Refused,
    Started,
    Stored,
)
from harness.core.history.history import History
from harness.core.values.calls import (
    ApprovalRequest,
    InboxRequest,
    ModelRequest,
    OutboxRequest,
    ProviderRequest,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.messages import (
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    canonical,
)
from harness.core.values.plans import words
from harness.core.values.visible_text import duration
from harness.redaction.encoder import beginning
from harness.redaction.masking import mask

CUT = 60
"""The most characters of a text or an input in a line."""


def quoted(text: str, cut: int = CUT) -> str:
    """`text` in double quotes on one line, cut at `cut` characters.

    >>> quoted("a  b" + chr(10) + "c"), quoted("abcdef", 4)
    ('"a b c"', '"abc…"')
    """
    return f'"{_cut(" ".join(text.split()), cut)}"'


def short(value: Json, cut: int = CUT) -> str:
    """Return a JSON value on one line, cut at `cut` characters; a text in quotes."""
    if isinstance(value, str):
        return quoted(value, cut)
    return _cut(canonical(value), cut)


def _cut(text: str, cut: int) -> str:
    """Cut `text` to `cut` characters, without secrets, and replace the unprintable ones."""
    kept = mask(text) if len(text) <= cut else f"{beginning(text, cut - 1)}…"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in kept)


def at(ms: int) -> str:
    """Return a time of the run's clock in seconds, to the millisecond."""
    return f"{ms / 1000:.3f} s"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: `1 turn`, `2 turns`."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def two_figures(value: float) -> str:
    """Return a rate in two figures, because a program plays less than one run a second.

    >>> two_figures(0.3456), two_figures(2.345), two_figures(123.4)
    ('0.35', '2.3', '123')
    """
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def message_words(message: Message) -> str:
    """Return the text of a message, block by block."""
    return ", ".join(_block(block) for block in message.blocks) or "nothing"


def _block(block: object) -> str:
    match block:
        case Text(text):
            return quoted(text)
        case Thinking(text):
            return f"thinks {quoted(text)}" if text else "thinks"
        case ToolResult(_, _, is_error):
            return f"{'error' if is_error else 'result'} {quoted(block.text)}"
        case Opaque(kind):
            return f"[{kind}]"
        case _:
            return f"use {getattr(block, 'name', '?')} {short(getattr(block, 'input', None))}"


def event_lines(history: History, only: Iterable[int] | None = None) -> dict[int, str]:
    """Return the line of each event that has one, by `n`; `only` selects events."""
    wanted = None if only is None else set(only)
    called = {event.key: event for event in history.events if isinstance(event, Called)}
    return {
        event.n: words
        for event in history.events
        if (wanted is None or event.n in wanted) and (words := _words(event, history, called))
    }


def _words(event: AnyEvent, history: History, called: dict[str, Called]) -> str:
    match event:
        case Called():
            return _called(event, history)
        case Answered():
            return _answered(event, history, called.get(event.key))
        case Stored():
            return _stored(event, history)
        case Started():
            again = f" again, attempt {event.attempt + 1}" if event.attempt else ""
            if event.downtime_ms:
                again += f", {duration(event.downtime_ms / 1000)} later"
            return f"start  {event.run}{again}"
        case Effected():
            key = f" (key {event.idempotency_key})" if event.idempotency_key else ""
            return f"effect {event.name}{key}"
        case Accepted():
            return "inbox  ← has it"
        case Killed():
            return f"kill   {event.signal} at {event.at}"
        case Marked():
            return f"mark   {_mark(event)}"
        case Refused():
            return f"refuse {event.status} {event.request}: {quoted(event.text)}"
        case Ended():
            return f"end    {', '.join(_ended(event))}"
        case _:
            return ""


def _mark(event: Marked) -> str:
    said = {None: "declared", True: "holds", False: "does not hold"}[event.holds]
    details = f", {short(event.details)}" if event.details else ""
    where = f" ({event.where})" if event.where else ""
    return f"{event.kind} {quoted(event.name)} {said}{details}{where}"


def _called(event: Called, history: History) -> str:
    request = event.request
    match request:
        case ModelRequest():
            return f"model  ← {', '.join(_asked(event, request, history))}"
        case ToolRequest(_, name, value):
            return f"tool   ← {name} {short(value)}"
        case OutboxRequest(kind, text):
            status = f", status {request.status}" if request.status else ""
            return f"outbox ← {kind} {quoted(text)}{status}"
        case ApprovalRequest(name=name, input=value):
            return f"ask    ← {name} {short(value)}"
        case StoreRequest(operation, rows):
            return f"store  ← {operation}{f' {len(rows)} rows' if rows else ''}"
        case InboxRequest(poll, cancels):
            wanted = "next message or cancel" if cancels else "next message"
            return f"inbox  ← {'cancelled?' if poll else wanted}"
        case ProviderRequest(operation, model):
            return f"facts  ← {operation}{f' of {model}' if model else ''}"


def _asked(event: Called, request: ModelRequest, history: History) -> Iterator[str]:
    if event.purpose != "main":
        yield event.purpose
    if event.provider not in ("", getattr(history.events[0], "wire", event.provider)):
        yield f"to {event.provider} {short(request.model)}"
    if event.route:
        yield f"at {short(event.route)}"
    yield counted(request.keep + len(request.messages), "message")
    last = history.messages.get(request.messages[-1]) if request.messages else None
    if last is not None:
        yield f"last: {last.role} {message_words(last)}"
    if event.sdk_retry:
        yield f"retry {event.sdk_retry} of the SDK"
    if event.refused:
        yield f"refused: {' '.join(event.refused)}"


def _answered(event: Answered, history: History, called: Called | None) -> str:
    tail = [f"faults: {' '.join(event.faults)}"] if event.faults else []
    if event.seam == "model":
        parts = [*_replied(event, history), *tail]
    elif event.seam == "tool":
        name = getattr(called.request, "name", "") if called else ""
        parts = [f"{name} {_tool_words(event)}".strip(), *tail]
    elif event.seam == "approval" and isinstance(event.value, dict):
        said = event.value
        parts = [said.get("answer", "allow"), *filter(None, [said.get("reason")]), *tail]
        return f"ask    → {', '.join(parts)}"
    elif event.seam == "inbox":
        parts = [_inbound(event.value), *tail]
    else:
        parts = [event.error or event.outcome, *tail]
    return f"{event.seam:6} → {', '.join(parts)}"


def _replied(event: Answered, history: History) -> Iterator[str]:
    said = history.messages.get(event.blocks)
    if event.status is not None and event.status >= 400:
        yield f"{event.status} {event.error}".strip()
    elif event.error:
        yield event.error
    if said is not None:
        yield message_words(said)
    elif event.outcome != "ok" and not event.error and event.status is None:
        yield event.outcome
    if event.stop not in (None, "end_turn", "tool_use"):
        yield f"stop {event.stop}"
    if not event.complete:
        yield f"incomplete: {'; '.join(map(words, event.steps))}" if event.steps else "incomplete"


def _tool_words(event: Answered) -> str:
    value = event.value
    if not isinstance(value, dict):
        return event.error or "; ".join(map(words, event.steps)) or event.outcome
    kind = "error " if value.get("is_error") else ""
    return f"{kind}{short(value.get('content', ''))}"


def _inbound(value: Json) -> str:
    if not isinstance(value, dict):
        return "no more messages"
    if value.get("kind", "message") != "message":
        return f"{value['kind']} {value.get('id', '')}".strip()
    return f"{value.get('id', '')} {quoted(str(value.get('text', '')))}".strip()


def _stored(event: Stored, history: History) -> str:
    parts = []
    for sign, rows in (("+", event.added), ("~", event.changed)):
        for row in rows:
            message = history.messages.get(row.digest)
            parts.append(f"{sign}{row.id} {message.role if message else ''}".strip())
    parts += [f"-{row}" for row in event.gone]
    if not event.durable:
        parts.append("not durable")
    return f"store  = {event.store}: {', '.join(parts) or 'nothing'}"


_LEFT_OVER = (
    "unplayed",
    "silent_faults",
    "undelivered",
    "unplayed_messages",
    "live_sockets",
    "unread_marks",
)
"""The fields of an end that name what was due and did not come."""


def _ended(event: Ended) -> Iterator[str]:
    yield event.how
    if event.exit_code is not None:
        yield f"exit {event.exit_code}"
    if event.text:
        yield quoted(event.text, 2 * CUT)
    for name in _LEFT_OVER:
        values = getattr(event, name)
        if values:
            yield f"{name.replace('_', ' ')}: {'; '.join(values)}"
