"""A scenario that is built in Python: `Use` and `Fault`, and the check of the whole value.

The structs of a scenario take what they are given, as a file is checked when it is read. A value of
a user's own is checked here, in the same words, before it is played.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import inspect

from harness import faults
from harness.core.scenario.scenario import ExpectReply, FaultSpec, Scenario, Times, When
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.orders import Order
from harness.core.values.visible_text import abridged
from harness.files.mistakes import Mistake, explain, mistakes_in

_T = TypeVar("_T")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*\Z")


def Use(name: str, input: Json = None, *, id: str = "") -> dict[str, Json]:
    """A call of a tool, one of the `blocks` of a `Turn`: several of them run in parallel.

    Without an `id` the call gets one as the provider makes it; without an `input` it is `{}`.
    Raises InputError for a name that is not text.
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a tool, not {name!r}: Use('search', {{'q': 'x'}})", "Use")
    return {"type": "tool_use", "id": id, "name": name, "input": {} if input is None else input}


def Fault(
    kind: str,
    *,
    on: str = "",
    provider: str = "",
    models: str = "",
    when: int | Sequence[int] | When = 1,
    often: Times | Literal["once"] = "once",
    then: Literal["ok", "same", "escalate"] = "ok",
    lasts_s: float | None = None,
    must_fire: bool = True,
    **settings: Json,
) -> FaultSpec:
    """A fault, as in a file: `Fault("http.status", status=529, when=2)`.

    `when` is the number of the call that it strikes, or several, or a `When`. What no keyword here
    has is a setting of the fault. Raises InputError for a kind or a setting that does not exist.
    """
    if not isinstance(kind, str):
        raise InputError(f"the kind of a fault, not {kind!r}: Fault('http.status', ...)", "Fault")
    calls = when if isinstance(when, (int, When)) else tuple(when)
    made = FaultSpec(
        kind=kind, on=on, provider=provider, models=models, when=calls, often=often, then=then,
        lasts_s=lasts_s, must_fire=must_fire, settings=settings,
    )  # fmt: skip
    for mistake in _misfits(made, inspect.type_info(FaultSpec), ()):
        raise InputError(mistake.what, f"Fault({kind!r})")
    faults.arm(_converted(made, FaultSpec, f"Fault({kind!r})"), "Fault")
    return made


def checked_scenario(scenario: Any) -> Scenario:
    """The scenario, with tuples where lists were given.

    Raises InputError for a wrong value, a wrong type, and a name that does not exist.
    """
    if not isinstance(scenario, Scenario):
        what = f"a path or a harness.Scenario, not {type(scenario).__name__}"
        raise InputError(what, "scenario")
    name = scenario.name if isinstance(scenario.name, str) else "?"
    place = f"Scenario {name!r}"
    for mistake in _misfits(scenario, inspect.type_info(Scenario), ()):
        raise InputError(mistake.what, _at(place, mistake.path))
    made = _converted(scenario, Scenario, place)
    if not _NAME.match(made.name):
        raise InputError("the name is that of a folder: letters, digits, `-`, `_` and `.`", place)
    for mistake in mistakes_in(made):
        raise InputError(mistake.what, _at(place, mistake.path))
    return made


def with_replies(
    scenario: Scenario, asked: Mapping[str, Json] | Sequence[Mapping[str, Json]]
) -> Scenario:
    """The scenario that expects these replies beside its own, each as in `expect.reply` of a file.

    Raises InputError for a key, a session or an expression that does not exist.
    """
    given: Sequence[Any] = [asked] if isinstance(asked, Mapping) else asked
    more = (_converted(each, ExpectReply, "play: reply") for each in given)
    expect = msgspec.structs.replace(scenario.expect, reply=(*scenario.expect.replies, *more))
    changed = msgspec.structs.replace(scenario, expect=expect)
    for mistake in mistakes_in(changed):
        raise InputError(mistake.what, _at(f"play: reply ({scenario.run_name})", mistake.path))
    return changed


def with_orders(scenario: Scenario, orders: Mapping[int, int]) -> Scenario:
    """The scenario in this order: at each point of choice the place in the line that goes first.

    Raises InputError for a number below 1.
    """
    given = [{"at": at, "first": first} for at, first in orders.items()]
    found = _converted(given, tuple[Order, ...], "play: orders")
    return msgspec.structs.replace(scenario, orders=found)


def _converted(value: object, kind: type[_T], place: str) -> _T:
    """A value with the types of its file, strictly."""
    try:
        return msgspec.convert(msgspec.to_builtins(value), kind)
    except msgspec.ValidationError as error:
        mistake = explain(str(error), kind)
        raise InputError(mistake.what, _at(place, mistake.path)) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"what no scenario holds: {error}", place) from None


def _at(place: str, path: Sequence[str | int]) -> str:
    said = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{place}: {said.removeprefix('.')}" if said else place


_EXAMPLES = {
    "Turn": "Turn(say='Yes.')",
    "InboxItem": "InboxItem(text='Hello')",
    "FaultSpec": "Fault('http.status', status=529)",
    "ToolScript": "ToolScript(script=(ToolTurn(ok='done'),))",
    "ToolTurn": "ToolTurn(ok='done')",
    "SeedMessage": "SeedMessage(role='user', content='Hello')",
}
"""How a value is written, where another stands in its place."""


def _misfits(value: Any, kind: inspect.Type, path: tuple[str | int, ...]) -> Iterator[Mistake]:
    """The places where a value of another kind stands than the struct, list or mapping there."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    structs = [each for each in kinds if isinstance(each, inspect.StructType)]
    for each in structs:
        if isinstance(value, each.cls):
            for field in each.fields:
                yield from _misfits(getattr(value, field.name), field.type, (*path, field.name))
            return
    lists = [k for k in kinds if isinstance(k, (inspect.VarTupleType, inspect.ListType))]
    mappings = [k for k in kinds if isinstance(k, inspect.DictType)]
    if lists and isinstance(value, (tuple, list)):
        for place, item in enumerate(value):
            yield from _misfits(item, lists[0].item_type, (*path, place))
    elif mappings and isinstance(value, Mapping):
        for name, item in value.items():
            yield from _misfits(item, mappings[0].value_type, (*path, str(name)))
    elif len(structs) == len(kinds) or (structs and isinstance(value, Mapping)):
        yield Mistake(_wanted(structs[0].cls.__name__, value), path)
    elif lists and len(lists) + len(structs) == len(kinds):
        yield Mistake(f"a tuple of {_items(lists[0])}, not {_shown(value)}", path)


def _items(kind: inspect.VarTupleType | inspect.ListType) -> str:
    item = kind.item_type
    return f"{item.cls.__name__} values" if isinstance(item, inspect.StructType) else "values"


def _wanted(name: str, value: Any) -> str:
    example = _EXAMPLES.get(name, f"{name}(...)")
    name = "Fault" if name == "FaultSpec" else name
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}, not {_shown(value)}: {example}"


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {abridged(repr(value), 40)}"
