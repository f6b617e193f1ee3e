"""What a list of contents breaks: the order of its turns, as a fold.

Neighbouring contents of the model are one turn. Its calls stay open until the next content of the
user, which must hold the results of all of them. Which rules hold depends on the model, so they are
chosen at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Block, Message, Text, Thinking, ToolResult, ToolUse
from harness.providers.gemini.blocks import SIGNATURE, CallIds
from harness.providers.gemini.contents import DUMMIES
from harness.providers.gemini.record import TABLE, Broken, rules_of, violation
from harness.providers.shared.codec import size_bytes
from harness.providers.shared.reader import Fold, FoldState

_NO_IDS = CallIds()


class ContentState(FoldState, frozen=True, gc=False):
    """What the contents so far leave open.

    `count` contents there were; `role` is the last one's. `calls` counts the calls of the last turn
    of the model, 0 after it. `unsigned` are the first calls of the current turn that lack a
    signature, with the place of their content. `call_ids` names calls that have no id.
    """

    count: int = 0
    role: str = ""
    calls: int = 0
    has_results: bool = False
    unsigned: tuple[tuple[int, str], ...] = ()
    call_ids: CallIds = _NO_IDS


def step(
    state: ContentState,
    message: Message,
    found: Iterable[Broken],
    ids: CallIds,
    active: frozenset[str],
) -> ContentState:
    """The state after one more content."""
    n, results = state.count, message.tool_results
    calls = message.tool_uses if message.role == "assistant" else ()
    before = state.calls if message.role == state.role else 0
    broken = [one.at(n) for one in found if one.rule in active]
    broken += [violation(rule) for rule in _order(state, message) if rule in active]
    # Only calls of the current turn need their signature: a user's message that holds no results
    # begins another one, and frees what came before.
    if message.role == "assistant":
        unsigned = state.unsigned + _unsigned(n, calls)
    else:
        unsigned = state.unsigned if results else ()
    return ContentState(
        count=n + 1,
        role=message.role,
        calls=before + len(calls),
        has_results=bool(results),
        unsigned=unsigned,
        call_ids=ids,
        size_bytes=state.size_bytes + size_bytes(message),
        violations=state.violations + tuple(broken) if broken else state.violations,
    )


def _order(state: ContentState, message: Message) -> Iterator[str]:
    if message.role == "assistant":
        follows = state.role != "assistant" or state.calls
        if message.tool_uses and not (state.count and follows):
            yield "G1"
    elif message.tool_results and not state.calls:
        yield "G2"
    elif len(message.tool_results) != state.calls:
        yield "G3"
    if message.role == state.role and not (state.has_results or message.tool_results):
        yield "G30"


def _unsigned(n: int, calls: Sequence[ToolUse]) -> tuple[tuple[int, str], ...]:
    if not calls or calls[0].extra.get(SIGNATURE):
        return ()
    return ((n, calls[0].name),)


def _meant(block: Block) -> Block:
    """A block without a signature behind which no thought stands: an agent may add one to a call of
    the open turn alone, and the model reads the same."""
    if not isinstance(block, Text | ToolUse) or block.extra.get(SIGNATURE) not in DUMMIES:
        return block
    left = {name: value for name, value in block.extra.items() if name != SIGNATURE}
    return msgspec.structs.replace(block, extra=left)


class ContentFold(Fold[ContentState]):
    """The fold of a dialect's rules over a list of contents."""

    def __init__(self, dialect: str) -> None:
        super().__init__(ContentState(), rules_of(dialect))

    def extend(self, contents: Iterable[tuple[Message, Iterable[Broken]]]) -> tuple[Message, ...]:
        """Take in the contents that follow, each with what it breaks by itself.

        They are returned with an id for each call.
        """
        added: list[Message] = []
        for content, found in contents:
            blocks, ids = self.state.call_ids.named(content.blocks)
            named = Message(content.role, blocks)
            added.append(Message(content.role, tuple(map(_meant, blocks))))
            self.push(step(self.state, named, found, ids, self.active))
        return tuple(added)

    def finish(self, model: str) -> tuple[Violation, ...]:
        """All violations of a list for this model that ends here."""
        ending = tuple(v for v in self._ending() if v.rule in self.active)
        return TABLE.of_model(self.state.violations + ending, model)

    def _ending(self) -> Iterator[Violation]:
        state = self.state
        if not state.count:
            yield violation("G4")
        for n, name in state.unsigned[:1]:
            yield violation("G10", name=name, position=n + 1)
        if state.role == "assistant":
            yield violation("G9")
            yield violation("G31")


def refuse(messages: Sequence[Message], dialect: str) -> tuple[Violation, ...]:
    """What the dialect refuses in a request of these messages, first one first.

    Results that stand in messages of their own count as one content: the API has them together.
    """
    fold = ContentFold(dialect)
    fold.extend((message, _parts(message)) for message in _joined(messages))
    return fold.finish("")


def _joined(messages: Sequence[Message]) -> Iterator[Message]:
    held: list[ToolResult] = []
    for message in messages:
        if message.role in ("tool", "function"):
            held.extend(message.tool_results)
            continue
        if held:
            yield Message("user", tuple(held))
            held = []
        if message.role not in ("system", "developer"):
            yield message
    if held:
        yield Message("user", tuple(held))


def _parts(message: Message) -> Iterator[Broken]:
    if message.role not in ("user", "assistant"):
        yield Broken("G7")
    if all(isinstance(block, Thinking) and not block.text for block in message.blocks):
        yield Broken("G5")
