"""Faults: functions `(moment, plan, **settings) -> plan` that bend what the world answers.

A fault's kind in a scenario is `layer.name`: the module or package here, and the public function in
it. Nothing registers; what there is, is found by walking this folder. Each module says

- in `STAGE` whether its faults bend the value, before the wire has written it, or the bytes;
- in `SEAMS` on which seams they can strike; without `on` in a scenario, on the first, or on what
  the module's `ON` says (`store:write`);
- in `CODES` which rows of the fault table (`table.ROWS`) each makes;
- in `WIRES`, if it has it, which faults are of some wires only;
- in `KILLS`, if it has it, which faults may end the target;
- in `VIRTUAL`, if it has it, that its faults move clocks, which real time cannot.

Returning the plan unchanged is the identity, and counts as not fired.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import FunctionType, MappingProxyType, ModuleType
from typing import cast, get_type_hints

import msgspec

from harness.core.scenario.scenario import FaultSpec
from harness.core.transition.arming import ON, ArmedFault, Stage, seam_of
from harness.core.transition.ports import FaultFunction
from harness.core.values.calls import Seam
from harness.core.values.errors import InputError, nearest
from harness.core.values.plans import ApiError


class Fault(msgspec.Struct, frozen=True):
    """A fault as it is found: `codes` are its rows in the table, `wires` is () for all of them."""

    kind: str
    function: FaultFunction
    stage: Stage
    seams: tuple[Seam, ...]
    codes: tuple[str, ...]
    wires: tuple[str, ...]
    kills: bool = False
    on: str = ""
    virtual: bool = False

    @property
    def settings(self) -> dict[str, object]:
        """The settings, which are the keyword-only parameters, with their types."""
        named = getattr(self.function, "__kwdefaults__", None) or {}
        types = get_type_hints(self.function, include_extras=True)
        return {name: types[name] for name in named}

    @property
    def defaults(self) -> dict[str, object]:
        """The settings with their defaults."""
        return dict(getattr(self.function, "__kwdefaults__", None) or {})


def arm(
    spec: FaultSpec,
    place: str = "",
    *,
    wire: str = "",
    refusals: Mapping[str, ApiError] | None = None,
) -> ArmedFault:
    """The fault that `spec` names, ready to fire on a run of `wire` ("" where none is known).

    `refusals` are what that wire answers for a broken rule, for the faults that force one.
    Raises InputError for an unknown kind or seam, one that the fault cannot strike on, a wire that
    has no such thing, and for a setting that the fault has not got or that has a wrong value.
    """
    fault = by_kind(spec.kind, place)
    spec = msgspec.structs.replace(spec, on=spec.on or fault.on)
    for what in (*_mistakes(fault, spec, wire), *_unknown_rule(spec, refusals)):
        raise InputError(f"fault {spec.kind}: {what}", place)
    return ArmedFault(spec, fault.function, fault.stage, wire or "anthropic", refusals)


def by_kind(kind: str, place: str = "") -> Fault:
    """The fault of that kind; InputError, with the nearest one, when there is none."""
    found = faults()
    if kind not in found:
        raise InputError(f"fault {kind!r}: unknown; {nearest(kind, found)}", place)
    return found[kind]


def _mistakes(fault: Fault, spec: FaultSpec, wire: str) -> Iterator[str]:
    if spec.on not in ON and not spec.on.startswith("tool:"):
        yield f"on {spec.on!r}: {nearest(spec.on, ON)}"
    elif seam_of(spec.on) not in fault.seams:
        yield f"on {spec.on!r}: it strikes on {', '.join(fault.seams)}"
    if wire and fault.wires and wire not in fault.wires:
        yield f"the wire {wire!r} has no such thing; it is of {', '.join(fault.wires)}"
    settings = fault.settings
    for name, value in spec.settings.items():
        if name not in settings:
            yield f"no setting {name!r}; {nearest(name, settings)}"
            continue
        try:
            msgspec.convert(value, type=settings[name])
        except msgspec.ValidationError as error:
            yield f"setting {name!r}: {error}"


def _unknown_rule(spec: FaultSpec, refusals: Mapping[str, ApiError] | None) -> Iterator[str]:
    """What is wrong with a setting `rule`, which names one of the wire's rules."""
    rule = spec.settings.get("rule")
    if refusals is not None and rule is not None and rule not in refusals:
        yield f"setting 'rule': no rule {rule!r}; {nearest(str(rule), refusals)}"


@cache
def faults() -> MappingProxyType[str, Fault]:
    """All faults by their kind, layer by layer."""
    return MappingProxyType({f.kind: f for module in _modules() for f in _faults_of(module)})


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(__path__, f"{__name__}."):
        module = importlib.import_module(found.name)
        if hasattr(module, "STAGE"):
            yield module


def _faults_of(module: ModuleType) -> Iterator[Fault]:
    layer = module.__name__.removeprefix(f"{__name__}.").partition(".")[0]
    wires = getattr(module, "WIRES", {})
    for name, function in public_functions(module):
        yield Fault(
            f"{layer}.{name}",
            function,
            cast(Stage, module.STAGE),
            module.SEAMS,
            module.CODES.get(name, ()),
            wires.get(name, ()),
            name in getattr(module, "KILLS", ()),
            getattr(module, "ON", module.SEAMS[0]),
            getattr(module, "VIRTUAL", False),
        )


def public_functions(module: ModuleType) -> Iterator[tuple[str, FaultFunction]]:
    """The functions that a module itself defines, in the order of their names."""
    for name, function in sorted(vars(module).items()):
        own = isinstance(function, FunctionType) and function.__module__ == module.__name__
        if own and not name.startswith("_"):
            yield name, function
