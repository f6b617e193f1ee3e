"""An agent in another language: the naive one fails where it should, the careful one passes."""

from __future__ import annotations

import pytest

from harness.core.scenario.scenario import Scenario
from harness.runner import run
from harness.targets import resolve
from tests.scenarios.all_runs import ROOT, all_runs, is_of_the_seeds, tiers

pytestmark = pytest.mark.real

AGENT = f"process:node {ROOT / 'examples' / 'node_agent.mjs'}"
RUNS = [scenario for scenario in all_runs() if is_of_the_seeds(scenario)]

NAIVE_FAILS = {
    "empty-inputs": "args_complete.empty_input",
    "empty-inputs/truncated-at-max-tokens": "args_complete.truncated",
    "empty-inputs/recovers": "args_complete.empty_input",
    "identical-failures": "no_progress_stop.same_failure",
    "identical-failures/other-key-order": "no_progress_stop.same_failure",
    "identical-failures/overloaded-once": "no_progress_stop.same_failure",
    "circles": "no_progress_stop.cycle",
    "circles/batches-of-six": "no_progress_stop.cycle",
    "circles/one-call": "no_progress_stop.same_call",
    "repeated-errors": "no_progress_stop.same_failure",
    "repeated-errors/with-a-time-in-it": "no_progress_stop.same_failure",
    "prompt-too-long/compacted": "compaction_progress.repeated",
    "prompt-too-long/all-attempts-fail": "truthful_outcome.failed",
    "prompt-too-long/another-error": "no_blind_resend.same_request",
    "replay-spiral": "role_alternation.wire",
    "replay-spiral/unanswered-tail": "role_alternation.wire",
}
NAIVE_PASSES = (
    "prompt-too-long",
    "empty-inputs/no-arguments-needed",
    "identical-failures/polling",
    "identical-failures/succeeds-at-the-third",
    "circles/while-something-changes",
    "circles/no-hits",
    "repeated-errors/half-an-emoji",
)

BEYOND = {
    "confirmation-lost": "it waits for the outbox without end, and repeats without a word",
    "reply-twice-on-a-slow-turn/it-answers-too-late": "as for confirmation-lost",
    "partial-and-whole-both-kept/nobody-knows": "as for confirmation-lost",
    "last-batch-after-a-crash": "it sends the reply again when the message comes again",
    "fails-in-other-words": "its breaker compares the errors of a call",
    "words-of-another-user/started-again-between": "it ends an interrupted turn and says so",
    "spends-after-the-stop": "over loopback no program can ask for a cancel in a turn",
}
"""What the careful agent does not survive, by scenario or variant, and why."""


def _is_beyond(scenario: Scenario) -> bool:
    run_name = scenario.run_name.partition("+")[0].partition("@")[0]
    return scenario.name in BEYOND or run_name in BEYOND


CAREFUL = [s for s in RUNS if s.wire == "anthropic" and not _is_beyond(s)]
NIGHTLY = [s.run_name for s in CAREFUL if s.variant or s.stream]
NIGHTLY = [name for n, name in enumerate(NIGHTLY) if n % 3]
"""Each run starts a Node: by day a third of the variants and streams is played."""


def _store(scenario: Scenario) -> str | None:
    """The file of the session `main`; other sessions have files of their own."""
    sessions = {message.session for message in scenario.inbox}
    return "jsonl:session.jsonl" if sessions <= {"main"} else None


@pytest.mark.parametrize("scenario", tiers(CAREFUL, [], frozenset(NIGHTLY)))
def test_careful_agent_passes(scenario: Scenario, node: str) -> None:
    verdict = run(scenario, resolve(f"{AGENT}?careful=true"), store=_store(scenario)).verdict
    assert [f"{f.code}: {f.message}" for f in verdict.findings] == []
    assert verdict.verdict in ("pass", "not_applicable")


@pytest.mark.parametrize("name", NAIVE_FAILS)
def test_naive_agent_fails_where_it_should(name: str, node: str) -> None:
    scenario = next(s for s in RUNS if s.run_name == name)
    verdict = run(scenario.failing_on("advice"), resolve(AGENT)).verdict
    assert verdict.verdict == "fail"
    assert NAIVE_FAILS[name] in [f.code for f in verdict.findings]


@pytest.mark.parametrize("name", NAIVE_PASSES)
def test_naive_agent_passes_where_nothing_is_hard(name: str, node: str) -> None:
    scenario = next(s for s in RUNS if s.run_name == name)
    assert run(scenario, resolve(AGENT)).verdict.verdict == "pass"
