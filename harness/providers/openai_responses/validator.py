"""What a conversation breaks: each item by its form, and all of them as a fold.

Calls wait for their output at any place, reasoning for its item. Our own answers are not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from harness.core.transition.ports import IssuedThinking, Violation
from harness.core.values.messages import Json
from harness.providers.openai_responses.blocks import ANSWERS, ITEMS, RESULT, kind_of, read
from harness.providers.openai_responses.record import NAME_PATTERN, NOT_STORED, violation
from harness.providers.shared.codec import size_bytes
from harness.providers.shared.openai import URL_MOST_CHARS, picture_fault, type_name
from harness.providers.shared.reader import FoldState

KINDS = frozenset(kind for kind, row in ITEMS.items() if row.is_a != "part")

_ROLES = ("assistant", "system", "developer", "user")
_TYPES: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "text": ("a string", str),
    "list": ("an array", list),
    "either": ("one of a string or an array of objects", (str, list)),
}

_PARTS = {
    "assistant": ("output_text", "refusal"),
    "": ("input_text", "input_image", "input_file", "input_audio"),
}


def wrong_type(path: str, wanted: str, value: Json) -> Violation:
    """A value of the wrong type (R8)."""
    return violation("R8", path=path, wanted=wanted, got=type_name(value))


def wrong(item: Json, path: str) -> Iterator[Violation]:
    """What is wrong with the form of an item that stands at `path`."""
    if not isinstance(item, dict):
        yield wrong_type(path, "an object", item)
        return
    kind = kind_of(item)
    if kind not in KINDS:
        yield from _unknown_kind(item, path)
        return
    missing = [*_fields(item, kind, path)]
    yield from missing
    if kind == "message" and not missing:
        yield from _message(item, path)
    if kind == "function_call" and not missing and not re.match(NAME_PATTERN, item["name"]):
        yield violation("R10", path=f"{path}.name", pattern=NAME_PATTERN)
    hidden = item.get("encrypted_content")
    if kind == "reasoning" and not isinstance(hidden, str | None):
        yield wrong_type(f"{path}.encrypted_content", "a string", hidden)


def _unknown_kind(item: dict[str, Json], path: str) -> Iterator[Violation]:
    kind = item.get("type")
    if isinstance(kind, str):
        yield violation("R7", value=kind, wanted=_listed(sorted(KINDS)), path=path)
    elif kind is None:
        yield violation("R9", path=f"{path}.type")
    else:
        yield wrong_type(f"{path}.type", "a string", kind)


def _fields(value: dict[str, Json], kind: str, path: str) -> Iterator[Violation]:
    for name, type_ in ITEMS[kind].needs.items() if kind in ITEMS else ():
        wanted, types = _TYPES[type_]
        if name not in value:
            yield violation("R9", path=f"{path}.{name}")
        elif not isinstance(value[name], types):
            yield wrong_type(f"{path}.{name}", wanted, value[name])


def _message(item: dict[str, Json], path: str) -> Iterator[Violation]:
    role, content = item["role"], item["content"]
    if role not in _ROLES:
        yield violation("R7", value=role, wanted=_listed(_ROLES), path=f"{path}.role")
    if not content:
        yield violation("R19", path=f"{path}.content")
    kinds = _PARTS.get(role, _PARTS[""])
    for m, part in enumerate(content if isinstance(content, list) else ()):
        yield from _part(part, f"{path}.content[{m}]", kinds)


def _part(part: Json, path: str, kinds: tuple[str, ...]) -> Iterator[Violation]:
    if not isinstance(part, dict):
        yield wrong_type(path, "an object", part)
        return
    kind = part.get("type")
    if kind is None:
        yield violation("R9", path=f"{path}.type")
    elif kind not in kinds:
        yield violation("R7", value=kind, wanted=_listed(kinds), path=path)
    else:
        yield from _fields(part, kind, path)
        if part.get("text") == "":
            yield violation("R19", path=f"{path}.text")
        yield from _picture(part.get("image_url"), f"{path}.image_url")


def _picture(url: Json, path: str) -> Iterator[Violation]:
    if fault := picture_fault(url):
        yield violation(_PICTURE_RULES[fault], path=path, url=url[:URL_MOST_CHARS])


_PICTURE_RULES = {"no address": "R30", "out of reach": "R30a"}


def _listed(words: tuple[str, ...] | list[str]) -> str:
    *most, last = (f"'{word}'" for word in words)
    return f"{', '.join(most)} and {last}" if len(most) < 2 else f"{', '.join(most)}, and {last}"


_CALLS = {"function_call": RESULT, "custom_tool_call": "custom_tool_call_output"}
"""Calls to the client, and what answers each."""

_OUTPUTS = frozenset(_CALLS.values())


class KnownItems(NamedTuple):
    """What the server knows of items that it gave out: the items by id, and for the id of an item
    that followed reasoning the id of that. Without `issued`, any encrypted content is taken."""

    items: Mapping[str, Json]
    reasoning: Mapping[str, str]
    stores: bool = True
    issued: IssuedThinking | None = None


class ItemState(FoldState, frozen=True, gc=False):
    """What the items so far leave open.

    `calls` are the ids of calls without an output, `reasoning` the id of reasoning that nothing
    follows yet; `ids` are the names that the last item uses, with a mark for what it is.
    """

    calls: tuple[str, ...] = ()
    reasoning: str = ""

    def answered(self, item: Json) -> ItemState:
        """The state after an item of our own answer."""
        return _after(self, item, "", self.violations)


EMPTY = ItemState()


def step(
    state: ItemState,
    n: int,
    item: Json,
    ids: Mapping[str, int],
    known: KnownItems,
    active: frozenset[str],
) -> ItemState:
    """The state after input item `n`; `ids` holds the names that all items before it use."""
    found = [*wrong(item, f"input[{n}]")]
    if kind_of(item) == "item_reference" and not found:
        referred = known.items.get(item["id"])
        if referred is None:
            hint = "" if known.stores else NOT_STORED
            found.append(violation("R17", id=item["id"], hint=hint))
        item = item if referred is None else referred
    found += _reasoned(state, item, ids, known)
    found += _decrypted(item, known)
    if isinstance(item, dict):
        if (id_ := _text(item, "id")) and f"item {id_}" in ids:
            found.append(violation("R5", id=id_))
        found += _paired(state, item, ids)
    new = tuple([v for v in found if v.rule in active])
    pending = _text(item, "id") if kind_of(item) == "reasoning" else ""
    return _after(state, item, pending, state.violations + new)


def finish(state: ItemState, active: frozenset[str]) -> tuple[Violation, ...]:
    """All violations of a request that ends here."""
    found = [violation("R2", id=id_) for id_ in state.calls]
    if state.reasoning:
        found.insert(0, violation("R3", id=state.reasoning))
    return state.violations + tuple(v for v in found if v.rule in active)


def _after(
    state: ItemState, item: Json, pending: str, violations: tuple[Violation, ...]
) -> ItemState:
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
    return ItemState(
        ids=tuple(names), size_bytes=size, violations=violations, calls=calls, reasoning=pending
    )


def _text(item: Json, name: str) -> str:
    value = item.get(name) if isinstance(item, dict) else None
    return value if isinstance(value, str) else ""


def _reasoned(
    state: ItemState, item: Json, ids: Mapping[str, int], known: KnownItems
) -> Iterator[Violation]:
    id_ = _text(item, "id")
    is_own = read(item).role == "assistant" and (bool(id_) or kind_of(item) != "message")
    if state.reasoning and not is_own:
        yield violation("R3", id=state.reasoning)
    reasoning = known.reasoning.get(id_, "") if id_ else ""
    if reasoning and f"item {reasoning}" not in ids:
        yield violation("R4", id=id_, kind=kind_of(item), reasoning=reasoning)


def _decrypted(item: Json, known: KnownItems) -> Iterator[Violation]:
    """Reasoning that the server can neither decrypt (R23) nor find by its id (R17)."""
    if kind_of(item) != "reasoning":
        return
    id_, hidden = _text(item, "id"), item.get("encrypted_content")
    if hidden is None:
        if id_ and not known.stores and id_ not in known.items:
            yield violation("R17", id=id_, hint=NOT_STORED)
    elif isinstance(hidden, str) and _is_foreign(hidden, known.issued):
        yield violation("R23", what=f"for item {id_}" if id_ else _shortened(hidden))


def _is_foreign(hidden: str, issued: IssuedThinking | None) -> bool:
    return not hidden or (issued is not None and not issued.texts(hidden))


def _shortened(hidden: str) -> str:
    return f"{hidden[:4]}...{hidden[-4:]}" if len(hidden) > 8 else hidden


def _paired(state: ItemState, item: dict[str, Json], ids: Mapping[str, int]) -> Iterator[Violation]:
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
