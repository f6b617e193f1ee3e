"""What a list of messages breaks, as a fold with one small step for each message.

Neighbours of one role count as one turn, as in the API. Calls stay open until the next user turn
ends, so V4 comes at the next assistant message or at the end. `AnthropicFold.finish` checks the end
at a constant cost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from harness.core.transition.ports import Violation
from harness.core.values.messages import Message, Opaque, Text, ToolResult, ToolUse
from harness.providers.anthropic import totals as sums
from harness.providers.anthropic.blocks import BlockNotes
from harness.providers.anthropic.compaction import unanswerable
from harness.providers.anthropic.fields import AnthropicFields
from harness.providers.anthropic.record import TABLE, rules_of, violation
from harness.providers.anthropic.totals import NO_TOTALS, RequestTotals, tallied
from harness.providers.shared.codec import size_bytes
from harness.providers.shared.reader import Fold, FoldState


class TurnState(FoldState, frozen=True, gc=False):
    """What the messages so far leave open.

    `role` is that of the current turn; `calls` are the (id, message index) of the last assistant
    turn, `answered` those with a result; `late`: the user turn holds something beside results;
    `hollow` is the index of an assistant message without content, -1 when the last one had some;
    `ids` are the call ids of the last message; the `totals` are cumulative.
    """

    role: str = ""
    calls: tuple[tuple[str, int], ...] = ()
    answered: frozenset[str] = frozenset()
    late: bool = False
    hollow: int = -1
    totals: RequestTotals = NO_TOTALS


def step(
    state: TurnState,
    index: int,
    message: Message,
    seen: Collection[str],
    active: frozenset[str],
    noted: BlockNotes | None = None,
) -> TurnState:
    """The state after one more message; `seen` holds the call ids of all messages before it."""
    size = state.size_bytes + size_bytes(message)
    if noted is None and _is_ordinary(state, message):
        late = message.role == "user"
        calls = state.calls if late else ()
        return TurnState(
            role=message.role, calls=calls, late=late, size_bytes=size,
            violations=state.violations, totals=state.totals,
        )  # fmt: skip
    found = [*_role(state, index, message), *_content(state, index, message, noted)]
    totals, more = tallied(state.totals, index, message, noted, first=not index)
    found += more
    ids = tuple([b.id for b in message.blocks if isinstance(b, ToolUse)])
    turn = _enter(state, message.role)
    calls, answered, late = turn.calls, turn.answered, turn.late
    if message.role == "user":
        answered, late, wrong = _answers(turn, index, message)
        found += wrong
    elif ids and message.role == "assistant":
        found += _calls(index, message, {id_ for id_, _ in calls}, seen)
        calls += tuple([(id_, index) for id_ in ids])
    new = tuple([v for v in found if v.rule in active])
    return TurnState(
        role=turn.role, calls=calls, answered=answered, late=late, ids=ids, size_bytes=size,
        hollow=index if message.role == "assistant" and not message.blocks else -1,
        violations=state.violations + new if new else state.violations, totals=totals,
    )  # fmt: skip


def _is_ordinary(state: TurnState, message: Message) -> bool:
    """Plain text in its turn, the usual message, breaks no rule."""
    if message.role == "user":
        in_turn = state.role != "user"
    else:
        in_turn = message.role == "assistant" and state.role == "user" and not state.calls
    if not in_turn or state.hollow >= 0 or not message.blocks:
        return False
    for block in message.blocks:
        if not isinstance(block, Text) or not block.text or block.text.isspace():
            return False
    return True


def _role(state: TurnState, index: int, message: Message) -> Iterator[Violation]:
    role = message.role
    if role not in ("user", "assistant", "system"):
        yield violation("V2b", n=index)
    elif role == "system":
        yield violation("V2", n=index)
        yield violation("V2c", n=index)
        if state.role != "user":
            yield violation("V2a", n=index)
    elif role == state.role:
        yield violation("V1", role=role)
    elif role == "assistant" and not state.role and not _is_compaction(message):
        yield violation("V33")
    if role == "assistant" and state.role == "user":
        yield from unanswered(state)


def _is_compaction(message: Message) -> bool:
    """A signed summary comes first in the list, as the server gave it."""
    first = message.blocks[0] if message.blocks else None
    return isinstance(first, Opaque) and first.kind == "compaction"


def _content(
    state: TurnState, index: int, message: Message, noted: BlockNotes | None
) -> Iterator[Violation]:
    if state.hollow >= 0:
        yield violation("V11", n=state.hollow)
    if not message.blocks and message.role != "assistant":
        yield violation("V11", n=index)
    texts = [block.text for block in message.blocks if isinstance(block, Text)]
    if texts.count("") > (len(noted.hollow) if noted else 0):
        yield violation("V9")
    if any(texts) and not any(text.strip() for text in texts):
        yield violation("V10" if message.role != "assistant" else "V10a")
    for m, block in enumerate(message.blocks):
        if isinstance(block, ToolUse) and message.role != "assistant":
            yield violation("V34", n=index, kind="tool_use", role="assistant")
        elif isinstance(block, ToolResult) and message.role != "user":
            yield violation("V34", n=index, kind="tool_result", role="user")
        elif isinstance(block, Opaque) and block.kind in _NEEDED:
            yield violation("V32", path=f"messages.{index}.content.{m}.{_missing(block)}")
        elif isinstance(block, Opaque) and _has_no_data(block):
            yield violation("V16a", n=index, m=m)


_NEEDED = {
    "": ("type",),
    "text": ("text",),
    "tool_use": ("id", "name"),
    "tool_result": ("tool_use_id",),
}
"""Fields without which a block of a known kind cannot be read and is kept as `Opaque`."""


def _has_no_data(block: Opaque) -> bool:
    return block.kind == "redacted_thinking" and block.value.get("data") == ""


def _missing(block: Opaque) -> str:
    names = _NEEDED[block.kind]
    name = next((n for n in names if not isinstance(block.value.get(n), str)), "content")
    return f"{block.kind}.{name}" if block.kind else name


def _calls(
    index: int, message: Message, turn: set[str], seen: Collection[str]
) -> Iterator[Violation]:
    """The ids of the `turn` must differ; `seen` are those of all turns before it."""
    for m, block in enumerate(message.blocks):
        if not isinstance(block, ToolUse):
            continue
        if block.id in turn:
            yield violation("V6", n=index, m=m)
        elif block.id in seen:
            yield violation("V6a", n=index, m=m)
        turn.add(block.id)
        if not isinstance(block.input, dict):
            yield violation("V31", n=index, m=m)


def _enter(state: TurnState, role: str) -> TurnState:
    if role == state.role or role not in ("user", "assistant"):
        return state
    return TurnState(role=role, calls=state.calls if role == "user" else ())


def _answers(
    state: TurnState, index: int, message: Message
) -> tuple[frozenset[str], bool, list[Violation]]:
    if ToolResult not in map(type, message.blocks):
        return state.answered, state.late or bool(message.blocks), []
    calls, answered, late = dict(state.calls), set(state.answered), state.late
    found: list[Violation] = []
    after: list[tuple[str, int]] = []
    for m, block in enumerate(message.blocks):
        if not isinstance(block, ToolResult):
            late = True
        elif block.id not in calls:
            found.append(violation("V5", n=index, m=m, ids=block.id))
        elif block.id in answered:
            found.append(violation("V7", n=index, m=m, ids=block.id))
        else:
            answered.add(block.id)
            if late:
                after.append((block.id, calls[block.id]))
    found += _grouped("V8", after)
    return frozenset(answered), late, found


def unanswered(state: TurnState) -> list[Violation]:
    """The calls that have no result (V4)."""
    if not state.calls:
        return []
    missing = {call: n for call, n in state.calls if call not in state.answered}
    return _grouped("V4", list(missing.items()))


def _grouped(rule: str, calls: list[tuple[str, int]]) -> list[Violation]:
    """One violation for each message that holds such calls, as the API words it."""
    groups = groupby(calls, key=lambda call: call[1])
    return [violation(rule, n=n, ids=", ".join(id_ for id_, _ in group)) for n, group in groups]


def _ending(state: TurnState, last: Message | None, *, compacts: bool) -> list[Violation]:
    open_calls = unanswered(state)
    if compacts:
        unfinished = bool(open_calls) and last is not None and last.role == "assistant"
        wrong = [*unanswerable(last, unfinished=unfinished)]
        return wrong or open_calls
    if last is None:
        return [violation("V36")]
    return [*open_calls, *_prefill(last)]


def _prefill(last: Message) -> Iterator[Violation]:
    """Open calls are V4 instead; a pause of the server is not a prefill."""
    end = last.blocks[-1] if last.blocks else None
    if last.role != "assistant" or last.tool_uses or isinstance(end, Opaque):
        return
    yield violation("V14")
    if isinstance(end, Text) and end.text != end.text.rstrip():
        yield violation("V13")


class AnthropicFold(Fold[TurnState]):
    """The fold of a dialect's rules over a list of messages."""

    def __init__(self, dialect: str) -> None:
        super().__init__(TurnState(), rules_of(dialect))

    def extend(self, entries: Sequence[tuple[Message, BlockNotes | None]]) -> tuple[Message, ...]:
        """Take in the messages that follow, each with what is noted of it; they are returned."""
        for message, note in entries:
            self.push(step(self.state, len(self.states), message, self.ids, self.active, note))
        return tuple([message for message, _ in entries])

    def finish(
        self, last: Message | None, said: AnthropicFields | None = None
    ) -> tuple[Violation, ...]:
        """All violations of a list that ends here with the message `last`.

        `said` are the fields beside it, None when only the list is known.
        """
        state, count = self.state, len(self.states)
        plain = said is None or not (said.marks or said.purpose)
        answerable = last is not None and last.role == "user" and not state.calls
        few = state.totals is NO_TOTALS and count <= sums.MESSAGES_MAX
        # Asked at each request of a loop: the usual one has no rule left that only its end decides.
        if answerable and plain and few:
            return state.violations
        found = _ending(state, last, compacts=said is not None and bool(said.purpose))
        found += sums.totals(state.totals, said.marks if said else 0, count)
        return state.violations + tuple(v for v in found if v.rule in self.active)


def refuse(messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
    """What the dialect refuses in a request of these messages, first one first.

    The list is a request: one that ends with the assistant is a prefill.
    """
    fold = AnthropicFold(dialect)
    fold.extend([(message, None) for message in messages])
    return TABLE.of_model(fold.finish(messages[-1] if messages else None), "")
