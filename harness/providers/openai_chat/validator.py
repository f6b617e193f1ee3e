"""What a list of messages breaks, as a fold: one small step for each row.

The state after each row is an immutable value, so a request that extends the last one costs only
its new rows. Calls stay open as long as rows of results follow their message; the first other row,
or the end of the list, closes them, and those without a result are C1.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Message, ToolUse
from harness.providers.openai_chat.blocks import RESULT_ROLES
from harness.providers.openai_chat.calls import is_call
from harness.providers.openai_chat.contents import content_violations
from harness.providers.openai_chat.rules import violation
from harness.providers.tokens import size_bytes

_SYSTEM_ROLES = frozenset({"system", "developer"})
_ROLES = frozenset({"user", "assistant", *_SYSTEM_ROLES, *RESULT_ROLES})


class State(msgspec.Struct, frozen=True, gc=False):
    """What the rows so far leave open.

    `count` rows there were; `role` is the last one's, system rows aside; `calls` are the ids that
    the assistant row before asks for, `answered` those with a result and the row of it. `system` is
    the text of the system rows at the beginning, while `leading` nothing else has come.
    `size_bytes` is cumulative, and so are `violations`.
    """

    count: int = 0
    role: str = ""
    calls: tuple[str, ...] = ()
    answered: tuple[tuple[str, int], ...] = ()
    leading: bool = True
    system: str = ""
    size_bytes: int = 0
    violations: tuple[Violation, ...] = ()


def step(state: State, row: Message, active: frozenset[str]) -> State:
    """The state after one more row."""
    is_system = row.role in _SYSTEM_ROLES
    found = [*_role(state, row), *content_violations(state.count, row)]
    calls, answered = state.calls, state.answered
    if row.role == "tool":
        answered, wrong = _answers(state, row)
        found += wrong
    else:
        found += _unanswered(state, f"messages.[{state.count}].role")
        calls = tuple([b.id for b in row.blocks if isinstance(b, ToolUse) and is_call(b)])
        answered = ()
    new = tuple([v for v in found if v.rule in active])
    leading = state.leading and is_system
    return State(
        count=state.count + 1,
        role=state.role if is_system else row.role,
        calls=calls,
        answered=answered,
        leading=leading,
        system="\n".join(filter(None, (state.system, row.text))) if leading else state.system,
        size_bytes=state.size_bytes + size_bytes(row),
        violations=state.violations + new if new else state.violations,
    )


def finish(state: State, active: frozenset[str]) -> tuple[Violation, ...]:
    """All violations of a list that ends here."""
    found = [*_unanswered(state, "messages")]
    if not state.count:
        found.append(violation("C13", path="messages"))
    return state.violations + tuple(v for v in found if v.rule in active)


def window(
    tokens: int, max_tokens: int | None, window_tokens: int, active: frozenset[str]
) -> tuple[Violation, ...]:
    """What breaks the window: the prompt alone (V23), or the prompt and the reply (V24)."""
    if tokens > window_tokens:
        return (violation("V23", tokens=tokens, window=window_tokens),)
    total = tokens + (max_tokens or 0)
    if "V24" not in active or total <= window_tokens:
        return ()
    found = violation(
        "V24", tokens=tokens, max_tokens=max_tokens, total=total, window=window_tokens
    )
    return (found,)


def _role(state: State, row: Message) -> Iterator[Violation]:
    role, n = row.role, state.count
    if role not in _ROLES:
        yield violation("C15", n=n, role=role)
    if role not in _ROLES or role == "developer":
        yield violation("C33", n=n, role=role)
    if role in ("user", "assistant") and (
        role == state.role or (role == "assistant" and not state.role)
    ):
        yield violation("C32")


def _answers(state: State, row: Message) -> tuple[tuple[tuple[str, int], ...], list[Violation]]:
    """A row of a result against the calls that are open: C2 to C5."""
    n, known = state.count, dict(state.answered)
    if not row.tool_results:
        return state.answered, [violation("C3", n=n)]
    id_ = row.tool_results[0].id
    if not state.calls:
        return state.answered, [violation("C2", n=n)]
    if id_ not in state.calls:
        return state.answered, [violation("C5", n=n, id=id_)]
    if id_ in known:
        return state.answered, [violation("C4", n=n, id=id_, first=known[id_])]
    return (*state.answered, (id_, n)), []


def _unanswered(state: State, where: str) -> Iterator[Violation]:
    known = dict(state.answered)
    missing = [id_ for id_ in state.calls if id_ not in known]
    if missing:
        yield violation("C1", ids=", ".join(missing), where=where)
