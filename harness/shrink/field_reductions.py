"""Reductions of any field, in the plain form of a scenario: the values that a file is read into.

List entries and keys go, numbers fall, texts shorten. New keys of the format need no line here.
Candidates that the format forbids are skipped. What no number says of a fault is reduced by name:
`forever`, conditions, and what comes after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import msgspec

from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, When
from harness.core.values.messages import Json
from harness.core.values.profile import Profile
from harness.shrink.delta_debugging import (
    Candidates,
    Reduction,
    fewer,
    in_turn,
    lowered,
    mapped,
    shortened,
)
from harness.shrink.scenario_size import plain

Path: TypeAlias = tuple[str | int, ...]

KEPT = frozenset({"name", "folder", "variant", "wire", "stream", "inbox", "orders", "script"})
"""Top-level keys that a file needs, or that say which run it is: a finding on another wire is not
the same one, nor is one whose order the seed draws. Of any other mapping the key `type` is needed:
a block has one, and a schema."""

NUMBERS = frozenset({"when", "often", "after", "ms", "bytes", "hang", "max_bytes", "size"})
"""Keys whose numbers are better low; of others (`status`, a window, a limit) none is simpler."""

TEXTS = frozenset({"text", "say", "think", "ok", "error", "raise", "content", "description"})
"""Keys whose texts are words, and no names. So is what stands below `input`."""


def entries_of(key: str) -> Reduction:
    """Entries of one top-level list or mapping go: faults, inbox, tools."""
    return lambda scenario: _at(scenario, (key,), _fewer)


def entries(scenario: Scenario) -> Candidates[Scenario]:
    """Entries of any list, and keys of any mapping, go; outer ones first."""
    yield from _everywhere(scenario, _is_container, _fewer)


def numbers(scenario: Scenario) -> Candidates[Scenario]:
    """Numbers fall: how often and how late a fault strikes, how long a tool hangs."""
    yield from _everywhere(scenario, _is_number, lambda value, path: lowered(int(value)))


def texts(scenario: Scenario) -> Candidates[Scenario]:
    """Texts get shorter."""
    yield from _everywhere(scenario, _is_text, lambda value, path: shortened(value))


_Cut: TypeAlias = Callable[[Any, Path], Candidates[Any]]
_Fits: TypeAlias = Callable[[Path, Json], bool]


def _everywhere(scenario: Scenario, fits: _Fits, cut: _Cut) -> Candidates[Scenario]:
    """A cut at every place that fits; a place that has gone meanwhile is skipped."""
    found = [path for path, value in _walk(plain(scenario), ()) if fits(path, value)]
    yield from in_turn(scenario, [partial(_cut_at, path, fits, cut) for path in found])


def _cut_at(path: Path, fits: _Fits, cut: _Cut, scenario: Scenario) -> Candidates[Scenario]:
    value = _value(plain(scenario), path)
    if value is not _GONE and fits(path, value):
        yield from _at(scenario, path, cut)


def _at(scenario: Scenario, path: Path, cut: _Cut) -> Candidates[Scenario]:
    values = plain(scenario)
    value = _value(values, path)
    if value is not _GONE:
        whole = partial(_scenario, scenario.profile)
        yield from mapped(cut(value, path), lambda new: whole(_replaced(values, path, new)))


def _scenario(profile: Profile, values: Json) -> Scenario | None:
    """The scenario of a plain value, for the same agent; None if the format does not allow it."""
    try:
        return msgspec.structs.replace(msgspec.convert(values, type=Scenario), profile=profile)
    except msgspec.ValidationError:
        return None


def _fewer(value: Any, path: Path) -> Candidates[Any]:
    if isinstance(value, (list, tuple)):
        return fewer(value, lambda left: left)
    needed = KEPT if not path else {"type"}
    fixed = {key: inner for key, inner in value.items() if key in needed}
    free = [key for key in value if key not in needed]
    return fewer(free, lambda left: fixed | {key: value[key] for key in left})


def _is_container(path: Path, value: Json) -> bool:
    return isinstance(value, (dict, list, tuple)) and len(value) > 0


def _is_number(path: Path, value: Json) -> bool:
    key = _key(path)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and value > 1 and (key in NUMBERS or key.endswith("_ms"))


def _is_text(path: Path, value: Json) -> bool:
    return isinstance(value, str) and bool(value) and (_key(path) in TEXTS or "input" in path)


def _key(path: Path) -> str:
    """The last key of a path; "" if there is none."""
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def _walk(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Every value with its path, outer ones first."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, (*path, key))
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from _walk(inner, (*path, place))


_GONE = object()


def _value(values: Json, path: Path) -> Json:
    """The value at a path, `_GONE` where there is none."""
    for part in path:
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            return _GONE
    return values


def _replaced(values: Any, path: Path, new: Json) -> Json:
    """A copy with another value at a path."""
    if not path:
        return new
    copy: Any = dict(values) if isinstance(values, dict) else list(values)
    copy[path[0]] = _replaced(values[path[0]], path[1:], new)
    return copy


def earlier(scenario: Scenario) -> Candidates[Scenario]:
    """Every message of the inbox that comes after a call comes after an earlier one."""
    yield from in_turn(
        scenario, [partial(_earlier_at, place) for place in range(len(scenario.inbox))]
    )


def _earlier_at(place: int, scenario: Scenario) -> Candidates[Scenario]:
    item = scenario.inbox[place]
    for moment in _moments(item):
        moved = msgspec.structs.replace(item, when={"after": moment})
        inbox = (*scenario.inbox[:place], moved, *scenario.inbox[place + 1 :])
        if (yield msgspec.structs.replace(scenario, inbox=inbox)):
            return


def _moments(item: InboxItem) -> Iterator[str]:
    """The earlier calls that a message may come after: without the session, then by number."""
    after = str(item.when.get("after", "")) if isinstance(item.when, dict) else ""
    lane, mark, number = after.rpartition("#")
    seam = lane.rpartition("/")[2]
    numbers = range(1, int(number) + 1) if mark and number.isdecimal() else ()
    found = (f"{s}#{n}" for n in numbers for s in dict.fromkeys(("model", seam)))
    yield from (moment for moment in found if moment != after)


_STRIKES = 256
"""A fault that strikes forever is tried up to this many times."""


def weaker(scenario: Scenario) -> Candidates[Scenario]:
    """Every fault becomes as weak as it can be."""
    yield from in_turn(
        scenario, [partial(_weaker_at, place) for place in range(len(scenario.faults))]
    )


def _weaker_at(place: int, scenario: Scenario) -> Candidates[Scenario]:
    yield from in_turn(scenario, [partial(_simpler, place), partial(_fewer_strikes, place)])


def _simpler(place: int, scenario: Scenario) -> Candidates[Scenario]:
    for fault in _simple(scenario.faults[place]):
        if (yield _with_fault(scenario, place, fault)):
            return


def _simple(fault: FaultSpec) -> Iterator[FaultSpec]:
    """The fault once on the first call; then with one field at a time as it is by default."""
    once: dict[str, object] = {"when": 1, "often": "once", "then": "ok"}
    yield msgspec.structs.replace(fault, **once)
    yield msgspec.structs.replace(fault, often="once", then="ok")
    for field, default in once.items():
        yield msgspec.structs.replace(fault, **{field: default})
    if isinstance(fault.when, (When, list, tuple)):
        for first in (2, 3, 4):
            yield msgspec.structs.replace(fault, when=first)


def _fewer_strikes(place: int, scenario: Scenario) -> Candidates[Scenario]:
    fault = scenario.faults[place]
    often = _STRIKES if fault.often == "forever" else fault.often
    if isinstance(often, int):
        times = mapped(lowered(often, 2), lambda n: msgspec.structs.replace(fault, often=n))
        yield from mapped(times, lambda weak: _with_fault(scenario, place, weak))


def _with_fault(scenario: Scenario, place: int, fault: FaultSpec) -> Scenario:
    faults = (*scenario.faults[:place], fault, *scenario.faults[place + 1 :])
    return msgspec.structs.replace(scenario, faults=faults)
