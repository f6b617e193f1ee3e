"""The reference agent passes every scenario, in both worlds, with one canonical history."""

from __future__ import annotations

import pytest

from harness.core.history.history import canonical
from harness.core.scenario.scenario import Scenario
from harness.runner import run
from tests import mutants
from tests.http_library import IS_OLDER
from tests.scenarios import reference_counts
from tests.scenarios.all_runs import all_runs, is_of_the_seeds, reference_for, tiers

RUNS = list(all_runs())
QUICK = [s for s in RUNS if s.wire == "anthropic" and not (s.variant and s.stream)]
QUICK = [s for s in QUICK if not s.variant and not s.stream][::5] + QUICK[::24]

OTHER = [s.run_name for s in RUNS if s.wire != "anthropic" and (s.variant or s.stream)]
STREAMED = [s.run_name for s in RUNS if s.wire == "anthropic" and s.variant and s.stream]
OF_MUTANTS = {mutant.scenario for _, mutant, _ in mutants.every()}
NIGHTLY = {*(name for n, name in enumerate(OTHER) if n % 10), *STREAMED[1::2]} - OF_MUTANTS
"""By day the other wires play each scenario once, and a tenth of the variants and streams. Half of
the streamed variants wait for the night too, without those of the wrong agents."""

PLAIN = [s for s in RUNS if s.wire == "anthropic" and not s.stream]
BESIDE = [s for s in PLAIN if "'background': True" in str(s.script)]
"""In real time a child in the background works beside its parent, and either may be the first."""

ALONE = [s for s in PLAIN if s not in BESIDE]
IN_BOTH_WORLDS = [
    *(s for s in ALONE if is_of_the_seeds(s)),
    *[s for s in ALONE if not (s.variant or is_of_the_seeds(s))][::4],
    *[s for s in ALONE if "sub_agents" in s.needs and not s.variant],
]
"""A sample, for real time passes there: the back-off of an SDK is slept through."""

QUICK_IN_BOTH = [s for s in IN_BOTH_WORLDS if is_of_the_seeds(s) and not s.faults][::2]


@pytest.mark.parametrize("scenario", tiers(RUNS, QUICK, NIGHTLY))
def test_reference_passes(scenario: Scenario) -> None:
    if IS_OLDER and scenario.run_name.startswith("overloaded/rate-limit"):
        pytest.skip("the SDK of that generation comes back sooner than a long retry-after says")
    played = run(scenario, reference_for(scenario))
    verdict = played.verdict
    assert [f"{f.code}: {f.message}" for f in verdict.findings] == []
    assert verdict.doubts == ()
    assert verdict.verdict == "pass"
    assert [n.reason for n in verdict.not_applicable if n.reason.startswith("unreached")] == []
    if not IS_OLDER:
        wanted = reference_counts.expected(scenario)
        hint = "write the table again: python -m tests.scenarios.reference_counts"
        assert reference_counts.counts_of(played) == wanted, hint


def test_the_table_of_counts_has_a_row_for_each_variant_and_no_other() -> None:
    runs = {scenario.run_name for scenario in RUNS}
    variants = {s.name + (f"/{s.variant}" if s.variant else "") for s in RUNS}
    assert variants <= reference_counts.names() <= variants | runs


@pytest.mark.parametrize("scenario", tiers(IN_BOTH_WORLDS, QUICK_IN_BOTH))
def test_both_worlds_agree(scenario: Scenario) -> None:
    supervised = run(scenario, reference_for(scenario), world="supervise")
    if supervised.verdict.verdict == "not_applicable":
        assert supervised.verdict.not_applicable[0].reason.startswith("needs virtual time")
        return
    simulated = run(scenario, reference_for(scenario))
    assert supervised.verdict.verdict == simulated.verdict.verdict == "pass"
    assert canonical(supervised.history) == canonical(simulated.history)


@pytest.mark.parametrize("scenario", tiers(BESIDE, BESIDE[:1]))
def test_children_in_the_background_pass_in_real_time(scenario: Scenario) -> None:
    supervised = run(scenario, reference_for(scenario), world="supervise").verdict
    assert [f"{f.code}: {f.message}" for f in supervised.findings] == []
    assert supervised.verdict in ("pass", "not_applicable")


def test_there_are_the_four_headline_scenarios_and_the_eight_branches() -> None:
    names = {s.run_name for s in RUNS if not s.stream}
    headline = {"empty-inputs", "identical-failures", "prompt-too-long", "replay-spiral"}
    assert headline <= names
    assert len({n.split("@")[0] for n in names if n.split("/")[0] == "prompt-too-long"}) == 8


def test_the_51_minute_incident_lasts_51_minutes_for_an_agent_without_a_breaker() -> None:
    from tests.mutants.no_breaker import agent as no_breaker

    scenario = next(s for s in RUNS if s.run_name == "empty-inputs/fifty-one-minutes")
    history = run(scenario, no_breaker).history
    assert history.past.tool_calls["write_file"] >= 21
    assert history.events[-1].at_ms >= 51 * 60 * 1000
