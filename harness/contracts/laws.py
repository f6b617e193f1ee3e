"""The common parts of contracts: a law with its sentence, the examples, and the tested part."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, settings

from harness.core.values.errors import InputError
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
