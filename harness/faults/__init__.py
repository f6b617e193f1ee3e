"""Faults: functions `(moment, plan, **settings) -> plan` that bend what the world answers.

A plug-in's public function with the positional parameters `moment` and `plan` is a fault, known as
`PREFIX.name`; constants of its module say where it strikes (`harness.faults.shared.fault`). It
returns the steps to carry out; the unchanged plan counts as not fired. It is pure: each random
value comes from `moment.draws`. Our own faults are kinds `layer.name`: functions in the files of a
layer, and rows of `catalogue/presets.tsv`. What the layers share stands in `shared`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType

import msgspec

from harness.core.scenario.scenario import FaultSpec as FaultSpec
from harness.core.transition.arming import ON, seam_of, spoken_on
from harness.core.transition.arming import ArmedFault as ArmedFault
from harness.core.values.errors import InputError, nearest
from harness.core.values.plans import ApiError as ApiError
from harness.core.values.strict import text_for_number, wrong_choice
from harness.faults.shared.fault import Fault as Fault
from harness.faults.shared.fault import check_fault_shape, faults_in, preset_fault
from harness.parts.loading import Kind, Plugin, import_module
from harness.parts.part import Part, Setting, knobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.core.transition.ports import FaultFunction as FaultFunction
    from harness.core.transition.ports import Moment as Moment
    from harness.core.values.calls import Call as Call
    from harness.core.values.calls import Inbound as Inbound
    from harness.core.values.calls import InboxRequest as InboxRequest
    from harness.core.values.calls import ModelRequest as ModelRequest
    from harness.core.values.calls import OutboxRequest as OutboxRequest
    from harness.core.values.calls import ProviderRequest as ProviderRequest
    from harness.core.values.calls import StoreRequest as StoreRequest
    from harness.core.values.calls import ToolRequest as ToolRequest
    from harness.core.values.messages import Message as Message
    from harness.core.values.messages import Opaque as Opaque
    from harness.core.values.messages import Text as Text
    from harness.core.values.messages import Thinking as Thinking
    from harness.core.values.messages import ToolResult as ToolResult
    from harness.core.values.messages import ToolUse as ToolUse
    from harness.core.values.plans import Accepted as Accepted
    from harness.core.values.plans import Answer as Answer
    from harness.core.values.plans import Close as Close
    from harness.core.values.plans import Delivered as Delivered
    from harness.core.values.plans import Effect as Effect
    from harness.core.values.plans import Facts as Facts
    from harness.core.values.plans import Head as Head
    from harness.core.values.plans import Jump as Jump
    from harness.core.values.plans import Kept as Kept
    from harness.core.values.plans import Kill as Kill
    from harness.core.values.plans import Plan as Plan
    from harness.core.values.plans import Raise as Raise
    from harness.core.values.plans import Reply as Reply
    from harness.core.values.plans import Send as Send
    from harness.core.values.plans import Step as Step
    from harness.core.values.plans import ToolAnswer as ToolAnswer
    from harness.core.values.plans import Wait as Wait
    from harness.core.values.strict import Count as Count
    from harness.core.values.strict import FromOne as FromOne
    from harness.core.values.strict import Seconds as Seconds
    from harness.faults.shared.error_answers import error as error
    from harness.faults.shared.replies import reply_of as reply_of
    from harness.faults.shared.replies import with_reply as with_reply
else:
    from harness.lazy_names import lazy_names

    OWN = ("ApiError", "ArmedFault", "Fault", "FaultSpec", "arm", "by_kind", "faults", "parts_of")
    __getattr__, __dir__ = lazy_names(__name__, *OWN)


def parts_of(plugin: Plugin) -> Mapping[str, Fault]:
    """The faults that a plug-in brings, by their names without its prefix.

    Raises InputError for a function that is a fault and cannot be used as one.
    """
    found = faults_in(plugin.functions, plugin.prefix)
    for name, fault in found.items():
        check_fault_shape(fault, plugin.functions[name])
    return found


def _presets() -> Mapping[str, Fault]:
    from harness.catalogue.fault_table import PRESETS

    return {k: preset_fault(preset, template_of(preset.template)) for k, preset in PRESETS.items()}


def template_of(name: str) -> FunctionType:
    """The function of a preset's template, by its place below this package."""
    module, _, function = name.rpartition(".")
    found = getattr(import_module(f"{__name__}.{module}"), function)
    assert isinstance(found, FunctionType)
    return found


def _described(kind: str, fault: Fault) -> Part:
    from harness.catalogue import sources

    types = fault.settings
    settings = {n: Setting(types[n], default) for n, default in fault.defaults.items()}
    facts = {
        "code": list(fault.codes),
        "layer": fault.layer,
        "stage": fault.stage,
        "on": list(fault.seams),
        "wires": list(fault.wires),
        "knobs": knobs(settings),
        "source": sources(fault.codes),
    }
    return Part(kind, fault.text, settings, facts)


FAULTS: Kind[Fault] = Kind(
    "fault",
    "a fault begins with `moment, plan`",
    lambda file: faults_in(file.functions, file.prefix),
    _described,
    folder=__name__,
    layers=True,
    others=_presets,
    guests=parts_of,
)

faults = FAULTS.all
"""All faults by their kind: ours in the order of their names, then those of the plug-ins."""


def by_kind(kind: str, place: str = "") -> Fault:
    """The fault of that kind; InputError, with the nearest ones, when there is none."""
    return FAULTS.named(kind, place, "fault {!r}: unknown")


def arm(
    spec: FaultSpec,
    place: str = "",
    *,
    wire: str = "",
    refusals: Mapping[str, ApiError] | None = None,
    form: Callable[..., ArmedFault] = ArmedFault,
) -> ArmedFault:
    """The fault that `spec` names, ready to fire on a run of `wire` ("" where none is known).

    `refusals` are what that provider answers for a broken rule, for the faults that force one; of a
    fault that names a `provider`, what that one answers. `form` makes the armed fault, and takes
    what `ArmedFault` takes.
    Raises InputError for an unknown kind or seam, one that the fault cannot strike on, and a
    provider that has no such thing. It does so too for a setting that the fault has not got or that
    has a wrong value.
    """
    fault = by_kind(spec.kind, place)
    spec = msgspec.structs.replace(spec, on=spec.on or fault.on)
    for what in (*_mistakes(fault, spec, spoken_on(spec, wire)), *_unknown_rule(spec, refusals)):
        raise InputError(f"fault {spec.kind}: {what}", place)
    layer = "" if spec.kind.startswith(f"{fault.layer}.") else fault.layer
    return form(spec, fault.function, fault.stage, wire, refusals, layer, fault.wires)


def _mistakes(fault: Fault, spec: FaultSpec, wire: str) -> Iterator[str]:
    if spec.on not in ON and not spec.on.startswith("tool:"):
        yield f"on {spec.on!r}: {nearest(spec.on, ON)}"
    elif seam_of(spec.on) not in fault.seams:
        yield f"on {spec.on!r}: it strikes on {', '.join(fault.seams)}"
    if wire and fault.wires and wire not in fault.wires:
        yield f"the wire {wire!r} has no such thing; it is of {', '.join(fault.wires)}"
    if (spec.provider or spec.models) and seam_of(spec.on) != "model":
        yield f"on {spec.on!r}: `provider` and `models` choose among the model's calls"
    settings = fault.settings
    for name, value in spec.settings.items():
        if name not in settings:
            yield f"no setting {name!r}; {nearest(name, settings)}"
            continue
        try:
            msgspec.convert(value, type=settings[name])
        except msgspec.ValidationError as error:
            kind = msgspec.inspect.type_info(settings[name])
            more = text_for_number(str(error), [name])
            yield f"setting {name!r}: {wrong_choice(str(error), kind) or error}{more}"


def _unknown_rule(spec: FaultSpec, refusals: Mapping[str, ApiError] | None) -> Iterator[str]:
    """What is wrong with a setting `rule`, which names one of the provider's rules."""
    rule = spec.settings.get("rule")
    if refusals is not None and rule is not None and rule not in refusals:
        yield f"setting 'rule': no rule {rule!r}; {nearest(str(rule), refusals)}"
