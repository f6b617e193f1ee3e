"""Faults: functions `(moment, plan, **settings) -> plan` that bend what the world answers.

A fault's kind in a scenario is `layer.name`: the module and the public function here. Each module
says in `STAGE` whether its faults bend the value, before the wire has written it, or the bytes; its
`CODES` tie names to the ids of the published fault table. Returning the plan unchanged is the
identity, and counts as not fired.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import cast

from harness.core.arming import ArmedFault, Stage
from harness.core.errors import InputError, nearest
from harness.core.ports import FaultFunction
from harness.core.scenario import FaultSpec

LAYERS = ("http", "sse", "tools", "transport")


def arm(spec: FaultSpec, place: str = "") -> ArmedFault:
    """The fault that `spec` names, ready to fire.

    Raises InputError for an unknown kind, and for a setting that the fault has not got.
    """
    found = {kind: (function, stage) for kind, function, stage in every()}
    if spec.kind not in found:
        raise InputError(f"fault {spec.kind!r}: unknown; {nearest(spec.kind, found)}", place)
    function, stage = found[spec.kind]
    known = [
        n for n, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY
    ]
    for name in spec.settings:
        if name not in known:
            raise InputError(
                f"fault {spec.kind}: no setting {name!r}; {nearest(name, known)}", place
            )
    return ArmedFault(spec, function, stage)


def every() -> Iterator[tuple[str, FaultFunction, Stage]]:
    """All faults: kind, function and stage."""
    for layer in LAYERS:
        module = importlib.import_module(f"harness.faults.{layer}")
        for name, function in public_functions(module):
            yield f"{layer}.{name}", function, cast(Stage, module.STAGE)


def public_functions(module: ModuleType) -> Iterator[tuple[str, FaultFunction]]:
    """The functions that a module itself defines, in the order of their names."""
    for name, function in sorted(vars(module).items()):
        own = inspect.isfunction(function) and function.__module__ == module.__name__
        if own and not name.startswith("_"):
            yield name, function
