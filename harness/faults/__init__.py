"""Faults: functions `(moment, plan, **settings) -> plan` that bend what the world answers.

This is the public module for a fault of your own. A plug-in's public function with the positional
parameters `moment` and `plan` is a fault, known everywhere as `PREFIX.name`; constants of its
module say where it strikes (`harness.faults.fault`). It gives the plan that is carried out: a
tuple of steps. Returning the plan unchanged counts as not fired. A fault is a pure function:
whatever it draws comes from `moment.draws`.

Our own faults are kinds `layer.name`: functions in the module or package of the layer here, and
rows of `catalogue/presets.tsv`. Nothing registers; the registry walks this folder, the table and
the plug-ins that are loaded.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import FunctionType, MappingProxyType

import msgspec

from harness.core.scenario.scenario import FaultSpec
from harness.core.transition.arming import ON, ArmedFault, seam_of
from harness.core.transition.ports import FaultFunction, Moment
from harness.core.values.calls import (
    Call,
    Inbound,
    InboxRequest,
    ModelRequest,
    OutboxRequest,
    ProviderRequest,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.errors import InputError, nearest
from harness.core.values.loaded_plugins import Plugin, loaded, unknown_name
from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.core.values.plans import (
    Accepted,
    Answer,
    ApiError,
    Close,
    Delivered,
    Effect,
    Facts,
    Head,
    Jump,
    Kept,
    Kill,
    Plan,
    Raise,
    Reply,
    Send,
    Step,
    ToolAnswer,
    Wait,
)
from harness.core.values.strict import Count, FromOne, Seconds
from harness.faults.error_answers import error
from harness.faults.fault import Fault, check_fault_shape, faults_in, preset_fault
from harness.faults.replies import reply_of, with_reply

__all__ = [
    "Accepted",
    "Answer",
    "ApiError",
    "ArmedFault",
    "Call",
    "Close",
    "Count",
    "Delivered",
    "Effect",
    "Facts",
    "Fault",
    "FaultFunction",
    "FaultSpec",
    "FromOne",
    "Head",
    "Inbound",
    "InboxRequest",
    "Jump",
    "Kept",
    "Kill",
    "Message",
    "ModelRequest",
    "Moment",
    "Opaque",
    "OutboxRequest",
    "Plan",
    "ProviderRequest",
    "Raise",
    "Reply",
    "Seconds",
    "Send",
    "Step",
    "StoreRequest",
    "Text",
    "Thinking",
    "ToolAnswer",
    "ToolRequest",
    "ToolResult",
    "ToolUse",
    "Wait",
    "arm",
    "by_kind",
    "error",
    "faults",
    "parts_of",
    "reply_of",
    "with_reply",
]


def faults() -> MappingProxyType[str, Fault]:
    """All faults by their kind: ours, layer by layer, then those of the plug-ins."""
    return _all(loaded())


def by_kind(kind: str, place: str = "") -> Fault:
    """The fault of that kind; InputError, with the nearest ones, when there is none."""
    found = faults()
    if kind not in found:
        raise InputError(f"fault {kind!r}: unknown; {unknown_name(kind, found)}", place)
    return found[kind]


def parts_of(plugin: Plugin) -> Mapping[str, Fault]:
    """The faults that a plug-in brings, by their names without its prefix.

    Raises InputError for a function that is a fault and cannot be used as one.
    """
    found = faults_in(plugin.functions, plugin.prefix)
    for name, fault in found.items():
        check_fault_shape(fault, plugin.functions[name])
    return found


def arm(
    spec: FaultSpec,
    place: str = "",
    *,
    wire: str = "",
    refusals: Mapping[str, ApiError] | None = None,
) -> ArmedFault:
    """The fault that `spec` names, ready to fire on a run of `wire` ("" where none is known).

    `refusals` are what that provider answers for a broken rule, for the faults that force one.
    Raises InputError for an unknown kind or seam, one that the fault cannot strike on, a provider
    that has no such thing, and for a setting that the fault has not got or that has a wrong value.
    """
    fault = by_kind(spec.kind, place)
    spec = msgspec.structs.replace(spec, on=spec.on or fault.on)
    for what in (*_mistakes(fault, spec, wire), *_unknown_rule(spec, refusals)):
        raise InputError(f"fault {spec.kind}: {what}", place)
    layer = "" if spec.kind.startswith(f"{fault.layer}.") else fault.layer
    return ArmedFault(spec, fault.function, fault.stage, wire, refusals, layer)


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
    """What is wrong with a setting `rule`, which names one of the provider's rules."""
    rule = spec.settings.get("rule")
    if refusals is not None and rule is not None and rule not in refusals:
        yield f"setting 'rule': no rule {rule!r}; {nearest(str(rule), refusals)}"


@cache
def _all(plugins: tuple[Plugin, ...]) -> MappingProxyType[str, Fault]:
    if not plugins:
        return MappingProxyType(dict(sorted(_own())))
    guests = {f.kind: f for plugin in plugins for f in parts_of(plugin).values()}
    return MappingProxyType({**_all(()), **guests})


def _own() -> Iterator[tuple[str, Fault]]:
    """Our faults: the functions of the modules that say CODES, and the presets."""
    from harness.catalogue.presets import PRESETS

    for found in pkgutil.walk_packages(__path__, f"{__name__}."):
        module = importlib.import_module(found.name)
        if hasattr(module, "CODES"):
            layer = found.name.removeprefix(f"{__name__}.").partition(".")[0]
            functions = Plugin(layer, module).functions
            yield from ((fault.kind, fault) for fault in faults_in(functions, layer).values())
    for kind, preset in PRESETS.items():
        yield kind, preset_fault(preset, template_of(preset.template))


def template_of(name: str) -> FunctionType:
    """The function of a preset's template, by its place below this package."""
    module, _, function = name.rpartition(".")
    found = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    assert isinstance(found, FunctionType)
    return found
