"""The first call in which two histories differ, and the differences in the frames of requests.

A lane is compared with the lane of the same session. Only the first difference of all lanes is
reported, because later ones follow from it. The frames of requests are compared separately, up to
that call. A tool that a release adds is in each request, and would hide every other difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import msgspec

from harness.comparison.course import END, Call, Course, Lane, course
from harness.comparison.message_shapes import Shape, first_unlike, shape_words
from harness.core.history.history import History
from harness.core.values.messages import ABSENT, Json, canonical, first_difference
from harness.core.values.visible_text import abridged

CUT = 60
"""The largest number of characters of a value in a sentence."""


class Change(msgspec.Struct, frozen=True):
    """The first call that differs: in a sentence, with its name and event on each side.

    `what` has no numbers of calls, so that the same change in many runs has the same text. A side
    without such a call has the key "" and the event 0. `by_world`: the calls are equal up to here,
    and the answers differ.
    """

    what: str
    before_key: str = ""
    after_key: str = ""
    before_n: int = 0
    after_n: int = 0
    by_world: bool = False


class Differences(msgspec.Struct, frozen=True):
    """The differences between the calls of two histories: the first one, and the frames of
    requests."""

    first: Change | None = None
    frames: tuple[str, ...] = ()


def differences(before: History, after: History) -> Differences:
    """Return the differences between the calls of two histories of one run."""
    numbers: dict[tuple[int, Shape], int] = {}
    one, other = course(before, numbers), course(after, numbers)
    first: list[tuple[bool, int, Change]] = []
    frames: dict[str, None] = {}
    for mine, its in _pairs(one, other):
        for a, b in zip_longest(mine, its):
            change = _change(a, b, one, other)
            if change is not None:
                is_end = END in (change.before_key, change.after_key)
                first.append((is_end, a.n if a else b.n if b else 0, change))
                break
            if a and b:
                frames.update(dict.fromkeys(_frame_changes(a, b)))
    found = min(first, key=lambda item: item[:2])[2] if first else None
    return Differences(found, tuple(frames))


def _pairs(one: Course, other: Course) -> Iterator[tuple[list[Call], list[Call]]]:
    """Yield the calls of matching lanes: by session, and the remaining lanes in order."""
    shared = [lane for lane in one.lanes if lane in other.lanes]
    yield from ((one.lanes[lane], other.lanes[lane]) for lane in shared)
    for kind in ("", "aux", "end"):
        mine, its = (_rest(side, shared, kind) for side in (one, other))
        yield from zip_longest(mine, its, fillvalue=[])


def _rest(side: Course, shared: list[Lane], kind: str) -> list[list[Call]]:
    return [calls for lane, calls in side.lanes.items() if lane not in shared and lane[1] == kind]


def _change(a: Call | None, b: Call | None, one: Course, other: Course) -> Change | None:
    """The difference between two calls or their answers; None without a difference."""
    what = by_world = ""
    if a is None or b is None:
        what = f"{_name(a)} → {_name(b)}"
    elif a.same != b.same:
        what = _unlike(a, b, one, other)
    elif a.answer != b.answer:
        what = by_world = f"the answer to {a.kind}: {_pair_words(dict(a.answer), dict(b.answer))}"
    if not what:
        return None
    keys = ("" if a is None else a.key, "" if b is None else b.key)
    return Change(what, *keys, a.n if a else 0, b.n if b else 0, bool(by_world))


def _name(call: Call | None) -> str:
    if call is None:
        return "no more calls"
    purpose = dict(call.said).get("purpose", "main")
    return call.kind if purpose in ("", "main") else f"{call.kind} ({purpose})"


def _unlike(a: Call, b: Call, one: Course, other: Course) -> str:
    if a.kind != b.kind:
        return f"{_name(a)} → {_name(b)}"
    said_a, said_b = dict(a.said), dict(b.said)
    if a.said == b.said and a.exchange and b.exchange:
        return _messages(one.shapes.shapes(a.exchange), other.shapes.shapes(b.exchange))
    if "input" in said_a and said_a["input"] != said_b["input"]:
        return f"{a.kind}: {_input(a.input, b.input)}"
    return f"{a.kind}: {_pair_words(said_a, said_b)}"


def _messages(mine: list[Shape], its: list[Shape]) -> str:
    """The first difference between the messages of two requests, in words."""
    found = first_unlike(mine, its)
    if found is None:
        return ""
    number, before, after = found
    count = "" if len(mine) == len(its) else f"{len(mine)} → {len(its)} messages, "
    said = f"{_cut(shape_words(before))} → {_cut(shape_words(after))}"
    return f"model: {count}message {number}: {said}"


def _input(before: Json, after: Json) -> str:
    """The first part of an input that differs.

    >>> _input({"bill": 17, "amount": 1500}, {"bill": 17, "amount": 15})
    'amount 1500 → 15'
    """
    place, a, b = first_difference(before, after) or ("", before, after)
    return f"{place or 'input'} {_value(a)} → {_value(b)}"


def _value(value: object) -> str:
    return "none" if value is ABSENT else _cut(canonical(value))


def _pair_words(before: dict[str, str], after: dict[str, str]) -> str:
    """The names with different values, with both values."""
    names = [name for name in dict.fromkeys((*before, *after))
             if before.get(name) != after.get(name)]  # fmt: skip
    return ", ".join(
        f"{name} {_cut(before.get(name) or 'none')} → {_cut(after.get(name) or 'none')}"
        for name in names
    )


def _frame_changes(a: Call, b: Call) -> Iterator[str]:
    """Yield each difference between the frames of two requests, in words."""
    its = dict(b.frame)
    for name, said in a.frame:
        other = its.get(name, said)
        if said == other:
            continue
        gone, new = ([x for x in p if x not in q] for p, q in ((said, other), (other, said)))
        if name == "tools":
            yield f"tools: {' '.join([*(f'-{x}' for x in gone), *(f'+{x}' for x in new)])}"
        else:
            yield f"{name}: {', '.join(said) or 'none'} → {', '.join(other) or 'none'}"


def _cut(text: str) -> str:
    return abridged(text, CUT)
