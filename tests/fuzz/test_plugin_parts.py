"""What a plug-in brings is drawn, played, found and shrunk like our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.checks import names
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, ToolScript, Turn
from harness.core.values.errors import InputError
from harness.fuzz.batch import Batch, play_all
from harness.fuzz.campaign import begin, resume
from harness.fuzz.campaign_journal import FILE, CampaignPlan
from harness.fuzz.example import draw, options_of
from harness.fuzz.fault_grammar import layer_of, matching, reachable, variations
from harness.fuzz.findings import ShrinkTask, shrunk_finding
from harness.parts.loading import set_loaded
from harness.plugins import load_plugins
from harness.shrink import FindingOracle, shrink
from harness.strategies import fault_sets
from harness.targets.spec import resolve

MODULE = "tests.fuzz.guest_parts"
TARGET = "tests.mutants.delivers_twice:agent?client=plain"


@pytest.fixture(autouse=True)
def guests() -> Iterator[None]:
    load_plugins(MODULE)
    yield
    set_loaded(())


@settings(max_examples=20)
@given(st.data())
def test_a_strategy_draws_them_with_settings_of_their_types(data: st.DataObject) -> None:
    drawn = data.draw(fault_sets(("guest_parts.*",), mean=3))
    assert {spec.kind for spec in drawn} <= {"guest_parts.loud"}
    assert all(spec.settings in variations("guest_parts.loud") for spec in drawn)
    assert all(layer_of(spec) == "tools" for spec in drawn)


SAYS = """
SEAMS = ("model",)
DRAWN = {"shouts": ({}, {"word": "AH"}), "waits": ({"times": 3},), "never": ()}
AFTER_END = ("waits",)

def shouts(moment, plan, *, word: str = "OH", times: int = 2):
    "It shouts."
    return plan

def waits(moment, plan, *, times: int = 9):
    "It waits."
    return plan

def never(moment, plan):
    "It waits for a word of the scenario."
    return plan
"""


def test_a_fault_says_itself_how_it_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "saying_faults.py").write_text(SAYS)
    monkeypatch.syspath_prepend(str(tmp_path))
    load_plugins("saying_faults")
    shouts, waits = "saying_faults.shouts", "saying_faults.waits"
    assert {fault.kind for fault in matching(("saying_faults.*",))} == {shouts, waits}
    assert variations(shouts)[:2] == ({}, {"word": "AH"})
    assert {"times": 8} in variations(shouts)
    assert variations(waits) == ({"times": 3},)
    specs = tuple(FaultSpec(kind=kind) for kind in (shouts, waits))
    lasting = [reachable(specs, "openai-chat", stream) for stream in (False, True)]
    assert lasting == [specs, specs[:1]]


def test_a_pattern_of_a_plug_in_that_is_not_loaded_is_refused() -> None:
    set_loaded(())
    assert not matching(("guest_parts.*",))
    with pytest.raises(InputError, match="no fault that can strike here"):
        fault_sets(("guest_parts.*",))


def test_a_campaign_draws_them_among_all_others() -> None:
    options = options_of(resolve(TARGET))
    scenarios = (draw((), Random(seed), options)[0] for seed in range(1000))
    kinds = {fault.kind for scenario in scenarios for fault in scenario.faults}
    assert "guest_parts.loud" in kinds
    assert len(kinds) > 100


@pytest.mark.real
def test_a_check_of_theirs_finds_and_its_finding_is_shrunk() -> None:
    target = resolve(TARGET)
    tried = play_all(Batch(number=0, first=1, count=12, seed=13, target=TARGET), target)
    shown = [*tried.found, *(found for held in tried.held for found in held.found)]
    theirs = (f for f in shown if f.code == "guest_parts.once.twice")
    # Of some examples the reference agent breaks their check too, and those are not shrunk.
    made = (shrunk_finding(ShrinkTask(found=found, target=TARGET), target) for found in theirs)
    shrunk = next(each for each in made if not each.failure)
    assert shrunk.code == "guest_parts.once.twice"
    assert shrunk.name.startswith("guest-parts-once-twice-")


def test_a_fault_and_a_code_of_theirs_are_kept() -> None:
    scenario = Scenario(
        name="loud",
        inbox=(InboxItem(text="Read it."), InboxItem(text="Thank you.")),
        tools={"read": ToolScript()},
        script=(Turn(say="Well.", use="read"), Turn(say="I have read it."), Turn(say="Bye.")),
        faults=(
            FaultSpec(kind="guest_parts.loud", on="tool", settings={"times": 8}),
            FaultSpec(kind="http.overloaded", on="model", when=2),
        ),
    )
    oracle = FindingOracle(scenario, target=resolve("reference"), code="guest_parts.quiet")
    assert (oracle.finding.check, oracle.finding.code) == (
        "guest_parts.quiet",
        "guest_parts.quiet.loud",
    )
    small = shrink(scenario, oracle).scenario
    assert [fault.kind for fault in small.faults] == ["guest_parts.loud"]
    assert small.faults[0].settings == {}


def test_a_campaign_goes_on_with_the_plug_ins_that_it_was_begun_with(tmp_path: Path) -> None:
    _, written = begin(tmp_path, CampaignPlan(target=TARGET, seed=1), names())
    written.close()
    line = msgspec.json.decode((tmp_path / FILE).read_bytes())
    assert line["plugins"] == [MODULE]
    assert resume(tmp_path, names())[0].plan.plugins == (MODULE,)
    set_loaded(())
    with pytest.raises(InputError, match=f"begun with the plug-ins {MODULE}; now loaded: none"):
        resume(tmp_path, names())


def test_without_plug_ins_the_journal_says_nothing_of_them(tmp_path: Path) -> None:
    set_loaded(())
    _, written = begin(tmp_path, CampaignPlan(target=TARGET, seed=1), names())
    written.close()
    assert "plugins" not in msgspec.json.decode((tmp_path / FILE).read_bytes())
