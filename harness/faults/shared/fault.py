"""What a fault is, and how one is recognised in a module: ours, or a plug-in.

A public function is a fault when its positional parameters are `moment` and `plan`; its
keyword-only parameters are its settings. Constants of its module describe it (`docs/plug-ins.md`
lists them). Each is one value for all faults of the module, or a mapping by function name with
`"*"` for the rest. `KILLS`, `VIRTUAL` and `AFTER_END` are names of functions. The rows that our own
faults make stand in the fault table itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from inspect import cleandoc
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import msgspec

from harness.catalogue.fault_table import ROWS, codes_of
from harness.core.transition.arming import ON, Stage, seam_of
from harness.core.transition.ports import FaultFunction
from harness.core.values.calls import Seam
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json
from harness.parts.loading import positional

if TYPE_CHECKING:
    from harness.catalogue.fault_table import Preset

LAYERS = (
    *("approvals", "clock", "context", "gateway", "http", "model"),
    *("persistence", "sse", "tools", "transport"),
)
"""The layers of our faults, and of any plug-in's."""

LAYER_OF: MappingProxyType[str, str] = MappingProxyType(
    {
        "model": "model",
        "provider": "http",
        "tool": "tools",
        "store": "persistence",
        "inbox": "gateway",
        "outbox": "gateway",
        "approval": "approvals",
    }
)
"""The layer of a plug-in's fault that names none, by its first seam."""

_TRAITS = ("KILLS", "VIRTUAL", "AFTER_END")
_NAMED = ("CODES", "WIRES", "STAGE", "SEAMS", "ON", "LAYER", "DRAWN", *_TRAITS)


class Fault(msgspec.Struct, frozen=True):
    """A fault as it is found.

    `codes` are its rows in the fault table, `wires` is () for all providers. `text` is what it
    does, `defaults` are its settings with their defaults. `after_end`: it strikes after
    the last event of a stream. `drawn` are the settings with which a campaign draws it; {} among
    them stands for its defaults and for what its types give.
    """

    kind: str
    function: FaultFunction
    layer: str
    stage: Stage
    seams: tuple[Seam, ...]
    on: str
    codes: tuple[str, ...]
    wires: tuple[str, ...]
    text: str
    defaults: Mapping[str, Any]
    kills: bool = False
    virtual: bool = False
    after_end: bool = False
    drawn: tuple[Mapping[str, Json], ...] = ({},)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, with their types."""
        function = self.function
        types = _types(function.func if isinstance(function, partial) else function)
        return {name: types[name] for name in self.defaults}


@cache
def _types(function: FaultFunction) -> dict[str, Any]:
    """The types of a function's parameters: each scenario of a folder asks for them."""
    return get_type_hints(function, include_extras=True)


def faults_in(functions: Mapping[str, FunctionType], prefix: str) -> dict[str, Fault]:
    """The faults among these functions by name; their kinds are `prefix.name`."""
    return {
        name: _fault(function, f"{prefix}.{name}", name)
        for name, function in functions.items()
        if positional(function)[:2] == ("moment", "plan")
    }


def _fault(function: FunctionType, kind: str, name: str) -> Fault:
    module = function.__globals__
    seams = _said(module, "SEAMS", name, ("model",))
    prefix = kind.partition(".")[0]
    layer = prefix if prefix in LAYERS else LAYER_OF.get(seams[0], "") if seams else ""
    return Fault(
        kind,
        function,
        layer=_said(module, "LAYER", name, layer),
        stage=_said(module, "STAGE", name, "value"),
        seams=seams,
        on=_said(module, "ON", name, seams[0] if seams else ""),
        codes=_said(module, "CODES", name, ()) or codes_of(kind),
        wires=_said(module, "WIRES", name, ()),
        text=cleandoc(function.__doc__ or ""),
        defaults=function.__kwdefaults__ or {},
        kills=name in module.get("KILLS", ()),
        virtual=name in module.get("VIRTUAL", ()),
        after_end=name in module.get("AFTER_END", ()),
        drawn=_said(module, "DRAWN", name, ({},)),
    )


def _said(module: Mapping[str, Any], constant: str, name: str, default: Any) -> Any:
    """What a constant of the module says of the function."""
    value = module.get(constant, default)
    return value.get(name, value.get("*", default)) if isinstance(value, Mapping) else value


def preset_fault(preset: Preset, template: FunctionType) -> Fault:
    """The fault that a row of the presets makes of its template."""
    defaults = {**preset.constants, **preset.settings}
    return Fault(
        preset.kind,
        partial(template, **defaults),
        layer=preset.kind.partition(".")[0],
        stage=preset.stage,
        seams=preset.seams,
        on=preset.on or preset.seams[0],
        codes=codes_of(preset.kind),
        wires=preset.wires,
        text=preset.text,
        defaults=preset.settings,
        drawn=preset.drawn,
    )


def check_fault_shape(fault: Fault, function: FunctionType) -> None:
    """Raise InputError for a function that is a fault and cannot be used as one."""
    for what in (*_wrong_parameters(function), *_wrong_constants(fault, function)):
        raise InputError(f"fault {fault.kind}: {what}")


def _wrong_parameters(function: FunctionType) -> Iterator[str]:
    code = function.__code__
    more = positional(function)[2:]
    if more:
        yield f"the parameter {more[0]!r} is positional; settings stand after `*`"
    for name in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]:
        if name not in (function.__kwdefaults__ or {}):
            yield f"the setting {name!r} has no default"
        elif name not in function.__annotations__:
            yield f"the setting {name!r} has no type"
    try:
        get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        yield f"the types of its settings cannot be read: {error}"


def _wrong_constants(fault: Fault, function: FunctionType) -> Iterator[str]:
    known: dict[str, tuple[Any, tuple[str, ...]]] = {
        "STAGE": ([fault.stage], get_args(Stage)),
        "SEAMS": (fault.seams or [""], get_args(Seam)),
        "LAYER": ([fault.layer], LAYERS),
        "CODES": (fault.codes, tuple(ROWS)),
    }
    for constant, (values, names) in known.items():
        for value in values:
            if value not in names:
                yield f"{constant} {value!r}: {nearest(str(value), names)}"
    if fault.on not in ON and not fault.on.startswith("tool:"):
        yield f"ON {fault.on!r}: {nearest(fault.on, ON)}"
    elif seam_of(fault.on) not in fault.seams:
        yield f"ON {fault.on!r} is not one of its seams {', '.join(fault.seams)}"
    module = function.__globals__
    for constant in _NAMED:
        value = module.get(constant, ())
        named = value if isinstance(value, Mapping) or constant in _TRAITS else ()
        for name in named:
            if name != "*" and not callable(module.get(name)):
                yield f"{constant} names {name!r}, which is not a function of {function.__module__}"
