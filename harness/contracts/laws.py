"""What contracts share: a law with its sentence, the examples, the tested part, its settings.

Drawn settings are small, because a contract tests the part and not the machine's memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.fuzz.fault_grammar import fits
from harness.parts.loading import Kind, Plugin

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


def law(holds: bool, sentence: str) -> None:
    """Raise AssertionError with the sentence unless the law holds."""
    if not holds:
        raise AssertionError(sentence)


def drawing(examples: int | None) -> Callable[[_F], _F]:
    """The Hypothesis settings of a contract: those of the profile, with the given number of
    examples."""
    chosen: dict[str, Any] = {
        "deadline": None,
        "phases": [phase for phase in settings().phases if phase is not Phase.explain],
        "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
    }
    if examples is not None:
        chosen["max_examples"] = examples
    return settings(**chosen)


def part_named(function: Callable[..., Any], kind: Kind[_T]) -> _T:
    """The part that a plug-in with this function or class would bring; its module gives prefix and
    constants.

    Raises AssertionError for a function that is of another kind.
    """
    law(isinstance(function, (FunctionType, type)), f"{function!r} is not a function")
    home = sys.modules.get(function.__module__)
    alone = ModuleType(function.__module__)
    constants = {name: value for name, value in vars(home).items() if name.isupper()}
    vars(alone).update(constants, **{function.__name__: function})
    prefix = constants.get("PREFIX", function.__module__.rpartition(".")[2])
    try:
        parts = kind.parts_of(Plugin(prefix, alone))
    except InputError as error:
        raise AssertionError(str(error)) from None
    law(len(parts) == 1, f"{function.__name__}: {kind.sign}")
    return next(iter(parts.values()))


Values = st.SearchStrategy[Any]

OPEN = 0.001
"""The distance of the least value from a bound that it may not equal (`gt`)."""
SPAN = 2_000
"""The largest distance of drawn numbers from their bound."""

_JSON: Values = st.sampled_from([None, True, 0, 1.5, "", "text", [], ["a"], {}, {"key": "value"}])
_WORDS: Values = st.sampled_from(["", "a", "ping", "ünïcödé", "two words", "x" * 200])


def settings_of(
    types: Mapping[str, object], defaults: Mapping[str, object]
) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the settings, each with its default or a value of its type."""
    return st.fixed_dictionaries(
        {}, optional={name: values_of(kind, defaults[name]) for name, kind in types.items()}
    )


def check_defaults(part: str, types: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """Raise AssertionError for a default that does not fit the type of its setting."""
    for name, kind in types.items():
        try:
            msgspec.convert(defaults[name], kind, strict=False)
        except msgspec.ValidationError as error:
            law(False, f"{part}: the default of {name} does not fit its type: {error}")


def values_of(kind: Any, default: object) -> Values:
    """Values of a setting: its default, and others that a file may give."""
    drawn = _of(kind, ()).filter(lambda value: fits(value, kind))
    return st.just(default) | drawn if fits(default, kind) else drawn


def _of(kind: Any, bounds: tuple[msgspec.Meta, ...]) -> Values:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        metas = tuple(meta for meta in arguments[1:] if isinstance(meta, msgspec.Meta))
        return _of(arguments[0], (*bounds, *metas))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of([_of(one, bounds) for one in arguments])
    if origin in (list, tuple, set, frozenset):
        return st.lists(_of(arguments[0], ()), max_size=3) if arguments else st.just([])
    if origin is dict:
        return st.dictionaries(_of(arguments[0], ()), _of(arguments[1], ()), max_size=2)
    plain: Callable[[tuple[msgspec.Meta, ...]], Values] = _PLAIN.get(kind, lambda _: _JSON)
    return plain(bounds)


def _range(bounds: tuple[msgspec.Meta, ...]) -> tuple[float, float]:
    """The least and the greatest number; above an open bound, at least a thousandth more.

    The run's clock does not show a wait shorter than a millisecond.
    """
    lows = [meta.ge for meta in bounds if meta.ge is not None]
    lows += [meta.gt + OPEN for meta in bounds if meta.gt is not None]
    highs = [bound for meta in bounds for bound in (meta.le, meta.lt) if bound is not None]
    low = max(lows, default=0)
    return low, min(min(highs, default=low + SPAN), low + SPAN)


_PLAIN: dict[Any, Callable[[tuple[msgspec.Meta, ...]], Values]] = {
    bool: lambda _: st.booleans(),
    int: lambda bounds: st.integers(*map(int, _range(bounds))),
    float: lambda bounds: st.floats(*_range(bounds), allow_nan=False),
    str: lambda _: _WORDS,
    NoneType: lambda _: st.none(),
}
