"""What a request breaks as a whole: by where its messages end, by sums, by its size.

The fold (`validator`) has seen each message by itself; this looks at the last one, at the fields
beside the messages, and at what was counted. It costs the same for any length.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.transition.ports import Violation
from harness.core.values.messages import Message, Opaque, Text
from harness.providers.anthropic import tally as sums
from harness.providers.anthropic.compaction import unanswerable
from harness.providers.anthropic.fields import Said
from harness.providers.anthropic.rules import violation
from harness.providers.anthropic.validator import State, unanswered


def finish(
    state: State,
    last: Message | None,
    active: frozenset[str],
    count: int = 0,
    said: Said | None = None,
) -> tuple[Violation, ...]:
    """All violations of a list of `count` messages that ends here with the message `last`.

    `said` are the fields beside it, None when only the list is known.
    """
    plain = said is None or not (said.marks or said.compacts)
    answerable = last is not None and last.role == "user" and not state.calls
    if answerable and plain and state.tally is sums.NOTHING and count <= sums.MESSAGES_MAX:
        return state.violations
    found = _ending(state, last, compacts=said is not None and said.compacts)
    found += sums.totals(state.tally, said.marks if said else 0, count)
    return state.violations + tuple(v for v in found if v.rule in active)


def _ending(state: State, last: Message | None, *, compacts: bool) -> list[Violation]:
    open_calls = unanswered(state)
    if compacts:
        unfinished = bool(open_calls) and last is not None and last.role == "assistant"
        wrong = [*unanswerable(last, unfinished=unfinished)]
        return wrong or open_calls
    if last is None:
        return [violation("V36")]
    return [*open_calls, *_prefill(last)]


def window(
    tokens: int, max_tokens: int | None, window_tokens: int, active: frozenset[str]
) -> tuple[Violation, ...]:
    """What breaks the window: the prompt alone (V23), or the prompt and the reply (V24)."""
    if tokens > window_tokens:
        return (violation("V23", tokens=tokens, window=window_tokens),)
    if "V24" in active and max_tokens is not None and tokens + max_tokens > window_tokens:
        return (violation("V24", tokens=tokens, max_tokens=max_tokens, window=window_tokens),)
    return ()


def _prefill(last: Message) -> Iterator[Violation]:
    """A list that ends with the assistant; open calls are V4, a pause of the server is none."""
    end = last.blocks[-1] if last.blocks else None
    if last.role != "assistant" or last.tool_uses or isinstance(end, Opaque):
        return
    if isinstance(end, Text) and end.text != end.text.rstrip():
        yield violation("V13")
    yield violation("V14")
