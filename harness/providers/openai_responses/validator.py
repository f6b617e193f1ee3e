"""What a conversation breaks, as a fold: one small step for each item.

The state after an item is an immutable value, so a request that extends the last one costs only its
new items. Calls stay open until their output comes, wherever it stands; reasoning waits for the
item that it led to. What this server itself answered is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json
from harness.providers.openai_responses.items import ANSWERS, RESULT, kind_of, read
from harness.providers.openai_responses.rules import NOT_STORED, violation
from harness.providers.openai_responses.shape import wrong
from harness.providers.tokens import size_bytes

_CALLS = {"function_call": RESULT, "custom_tool_call": "custom_tool_call_output"}
"""Calls to the client, and what answers each."""

_OUTPUTS = frozenset(_CALLS.values())


class Known(NamedTuple):
    """What the server knows of items that it gave out: the items by id, and for the id of an item
    that followed reasoning the id of that."""

    items: Mapping[str, Json]
    reasoning: Mapping[str, str]
    stores: bool = True


class State(msgspec.Struct, frozen=True, gc=False):
    """What the items so far leave open.

    `calls` are the ids of calls without an output, `reasoning` the id of reasoning that nothing
    follows yet; `ids` are the names that this item uses, with a mark for what it is; `size_bytes`
    is cumulative, and so are `violations`.
    """

    calls: tuple[str, ...] = ()
    reasoning: str = ""
    ids: tuple[str, ...] = ()
    size_bytes: int = 0
    violations: tuple[Violation, ...] = ()

    def answered(self, item: Json) -> State:
        """The state after an item of our own answer."""
        return _after(self, item, "", self.violations)


EMPTY = State()


def step(
    state: State, n: int, item: Json, ids: Mapping[str, int], known: Known, active: frozenset[str]
) -> State:
    """The state after input item `n`; `ids` holds the names that all items before it use."""
    found = [*wrong(item, f"input[{n}]")]
    if kind_of(item) == "item_reference" and not found:
        referred = known.items.get(item["id"])
        if referred is None:
            hint = "" if known.stores else NOT_STORED
            found.append(violation("R17", id=item["id"], hint=hint))
        item = item if referred is None else referred
    found += _reasoned(state, item, ids, known)
    if isinstance(item, dict):
        found += _named(item, ids)
        found += _paired(state, item, ids)
    new = tuple([v for v in found if v.rule in active])
    pending = _text(item, "id") if kind_of(item) == "reasoning" else ""
    return _after(state, item, pending, state.violations + new)


def finish(state: State, active: frozenset[str]) -> tuple[Violation, ...]:
    """All violations of a request that ends here."""
    found = [violation("R2", id=id_) for id_ in state.calls]
    if state.reasoning:
        found.insert(0, violation("R3", id=state.reasoning))
    return state.violations + tuple(v for v in found if v.rule in active)


def _after(state: State, item: Json, pending: str, violations: tuple[Violation, ...]) -> State:
    kind, call = kind_of(item), _text(item, "call_id")
    calls = state.calls
    if kind in _CALLS and call and call not in calls:
        calls = (*calls, call)
    elif kind in _OUTPUTS and call in calls:
        calls = tuple(id_ for id_ in calls if id_ != call)
    names = [f"item {_text(item, 'id')}"] if _text(item, "id") else []
    if call:
        names.append(f"{'output' if kind in ANSWERS else 'call'} {call}")
    size = state.size_bytes + size_bytes(item)
    return State(calls, pending, tuple(names), size, violations)


def _text(item: Json, name: str) -> str:
    value = item.get(name) if isinstance(item, dict) else None
    return value if isinstance(value, str) else ""


def _reasoned(
    state: State, item: Json, ids: Mapping[str, int], known: Known
) -> Iterator[Violation]:
    """Reasoning without what followed it, and what followed without its reasoning."""
    if state.reasoning and read(item).role != "assistant":
        yield violation("R3", id=state.reasoning)
    id_ = _text(item, "id")
    reasoning = known.reasoning.get(id_, "") if id_ else ""
    if reasoning and f"item {reasoning}" not in ids:
        yield violation("R4", id=id_, kind=kind_of(item), reasoning=reasoning)


def _named(item: dict[str, Json], ids: Mapping[str, int]) -> Iterator[Violation]:
    id_ = _text(item, "id")
    if id_ and f"item {id_}" in ids:
        yield violation("R5", id=id_)


def _paired(state: State, item: dict[str, Json], ids: Mapping[str, int]) -> Iterator[Violation]:
    """A call whose id was used; an output without its call, late, or the second one."""
    kind, call = kind_of(item), _text(item, "call_id")
    if kind == "message":
        yield from (violation("R20", id=id_) for id_ in state.calls)
    if kind in _CALLS and f"call {call}" in ids:
        yield violation("R6", id=call)
    if kind not in _OUTPUTS or not call:
        return
    if f"call {call}" not in ids:
        yield violation("R1", id=call)
    elif f"output {call}" in ids:
        yield violation("R21", id=call)
