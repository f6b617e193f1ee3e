"""Faults: functions `(moment, plan, **settings) -> plan` that bend what the world answers.

A fault's kind in a scenario is `layer.name`: the module and the public function here. Each module
says in `STAGE` whether its faults bend the value, before the wire has written it, or the bytes; its
`CODES` tie names to the ids of the published fault table. Returning the plan unchanged is the
identity, and counts as not fired.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import cast, get_type_hints

import msgspec

from harness.core.arming import ON, ArmedFault, Stage
from harness.core.errors import InputError, nearest
from harness.core.ports import FaultFunction
from harness.core.scenario import FaultSpec
from harness.faults import http, sse, tools, transport

LAYERS: tuple[ModuleType, ...] = (http, sse, tools, transport)


def arm(spec: FaultSpec, place: str = "") -> ArmedFault:
    """The fault that `spec` names, ready to fire.

    Raises InputError for an unknown kind or seam, and for a setting that the fault has not got or
    that has a wrong value.
    """
    found = {kind: (function, stage) for kind, function, stage in every()}
    if spec.kind not in found:
        raise InputError(f"fault {spec.kind!r}: unknown; {nearest(spec.kind, found)}", place)
    if spec.on not in ON and not spec.on.startswith("tool:"):
        raise InputError(f"fault {spec.kind}: on {spec.on!r}: {nearest(spec.on, ON)}", place)
    function, stage = found[spec.kind]
    settings = _settings(function)
    for name, value in spec.settings.items():
        if name not in settings:
            what = f"no setting {name!r}; {nearest(name, settings)}"
            raise InputError(f"fault {spec.kind}: {what}", place)
        try:
            msgspec.convert(value, type=settings[name])
        except msgspec.ValidationError as error:
            raise InputError(f"fault {spec.kind}: setting {name!r}: {error}", place) from None
    return ArmedFault(spec, function, stage)


def _settings(function: FaultFunction) -> dict[str, object]:
    """The settings of a fault, its keyword-only parameters, with their types."""
    named = getattr(function, "__kwdefaults__", None) or {}
    types = get_type_hints(function, include_extras=True)
    return {name: types[name] for name in named}


def every() -> Iterator[tuple[str, FaultFunction, Stage]]:
    """All faults: kind, function and stage."""
    for module in LAYERS:
        layer = module.__name__.rpartition(".")[2]
        for name, function in public_functions(module):
            yield f"{layer}.{name}", function, cast(Stage, module.STAGE)


def public_functions(module: ModuleType) -> Iterator[tuple[str, FaultFunction]]:
    """The functions that a module itself defines, in the order of their names."""
    for name, function in sorted(vars(module).items()):
        own = isinstance(function, FunctionType) and function.__module__ == module.__name__
        if own and not name.startswith("_"):
            yield name, function
