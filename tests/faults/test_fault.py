"""Recognising faults in the modules of plug-ins."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError
from harness.faults import arm, by_kind, faults, parts_of
from harness.parts.loading import Plugin, set_loaded

SLOW_DISK = """
from harness.faults import Moment, Plan, Seconds, Wait

SEAMS = ("store",)

def slow_disk(moment: Moment, plan: Plan, *, wait_s: Seconds = 2.0) -> Plan:
    '''The disk is slow.'''
    return (Wait(int(wait_s * 1000)), *plan)
"""


@pytest.fixture(autouse=True)
def no_plugins() -> Iterator[None]:
    yield
    set_loaded(())
    for name in [name for name in sys.modules if name.startswith("my_parts")]:
        del sys.modules[name]


def plugin(text: str, name: str = "my_parts") -> Plugin:
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return Plugin(name, module)


def test_a_function_is_recognised_by_its_parameters_and_described_by_its_module() -> None:
    [(name, fault)] = parts_of(plugin(SLOW_DISK)).items()
    assert (name, fault.kind, fault.layer) == ("slow_disk", "my_parts.slow_disk", "persistence")
    assert (fault.stage, fault.seams, fault.on) == ("value", ("store",), "store")
    assert (fault.defaults, fault.text) == ({"wait_s": 2.0}, "The disk is slow.")


def test_it_is_known_and_armed_by_name_while_it_is_loaded() -> None:
    ours = list(faults())
    set_loaded((plugin(SLOW_DISK),))
    assert list(faults()) == [*ours, "my_parts.slow_disk"]
    armed = arm(FaultSpec(kind="my_parts.slow_disk", settings={"wait_s": 1}))
    assert (armed.spec.on, armed.layer) == ("store", "persistence")
    with pytest.raises(InputError, match=r"setting 'wait_s': Expected `float` > 0"):
        arm(FaultSpec(kind="my_parts.slow_disk", settings={"wait_s": 0}))
    set_loaded(())
    with pytest.raises(InputError, match=r"no plug-in with the prefix 'my_parts' is loaded"):
        by_kind("my_parts.slow_disk")


@pytest.mark.parametrize(
    ("constants", "stage", "seams", "layer"),
    [
        ("", "value", ("model",), "model"),
        ("SEAMS = ('provider', 'model')", "value", ("provider", "model"), "http"),
        ("SEAMS = {'*': ('tool',)}", "value", ("tool",), "tools"),
        ("SEAMS = {'odd': ('outbox',)}; STAGE = 'bytes'", "bytes", ("outbox",), "gateway"),
        ("STAGE = {'odd': 'bytes'}; LAYER = 'sse'", "bytes", ("model",), "sse"),
        ("LAYER = {'odd': 'clock'}", "value", ("model",), "clock"),
    ],
)
def test_constants_are_one_value_or_by_function(
    constants: str, stage: str, seams: tuple[str, ...], layer: str
) -> None:
    fault = parts_of(plugin(f"{constants}\ndef odd(moment, plan): return plan"))["odd"]
    assert (fault.stage, fault.seams, fault.layer) == (stage, seams, layer)


def test_names_of_functions_say_what_kills_and_what_moves_clocks() -> None:
    text = "KILLS = ('odd',)\ndef odd(moment, plan): return plan\n"
    found = parts_of(plugin(text + "def even(moment, plan): return plan"))
    assert (found["odd"].kills, found["even"].kills, found["odd"].virtual) == (True, False, False)


def test_what_is_no_fault_is_left_alone() -> None:
    text = "def odd(history): ...\ndef _even(moment, plan): ...\ndef late(plan, moment): ..."
    assert parts_of(plugin(text)) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def odd(moment, plan, more): ...", "the parameter 'more' is positional"),
        ("def odd(moment, plan, *, more: int): ...", "the setting 'more' has no default"),
        ("def odd(moment, plan, *, more=1): ...", "the setting 'more' has no type"),
        ("def odd(moment, plan, *, more: 'Nix' = 1): ...", "types of its settings cannot be read"),
        ("STAGE = 'byte'\ndef odd(moment, plan): ...", "STAGE 'byte': did you mean 'bytes'"),
        ("SEAMS = ('tools',)\ndef odd(moment, plan): ...", "SEAMS 'tools': did you mean 'tool'"),
        ("SEAMS = ()\ndef odd(moment, plan): ...", "SEAMS '': "),
        ("LAYER = 'disk'\ndef odd(moment, plan): ...", "LAYER 'disk': "),
        ("ON = 'tool:x'\ndef odd(moment, plan): ...", "ON 'tool:x' is not one of its seams model"),
        ("ON = 'maim'\ndef odd(moment, plan): ...", "ON 'maim': did you mean 'main'"),
        ("CODES = {'odd': ('X99',)}\ndef odd(moment, plan): ...", "CODES 'X99': "),
        ("CODES = {'od': ('X9',)}\ndef odd(moment, plan): ...", "CODES names 'od', which is no"),
        (
            "KILLS = ('od',)\ndef odd(moment, plan): ...",
            "KILLS names 'od', which is not a function",
        ),
    ],
)
def test_a_fault_that_cannot_be_used_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parts_of(plugin(text))
    assert caught.value.what.startswith("fault my_parts.odd: ")
    assert words in caught.value.what
    assert "\n" not in str(caught.value)


def test_the_history_names_the_layer_of_a_plug_ins_fault_alone() -> None:
    set_loaded((plugin("def odd(moment, plan): return ()"),))
    for kind, layer in (("my_parts.odd", "model"), ("model.empty_content", "")):
        armed = arm(FaultSpec(kind=kind))
        scenario = Scenario(name="odd", script=(Turn(say="hi"),))
        from harness.providers import by_name

        history = History()
        script = TurnScript((), Draws(0))
        Transition(scenario, by_name("anthropic"), script, history, faults=[armed])
        assert history.fault_layers == ({kind: layer} if layer else {})
