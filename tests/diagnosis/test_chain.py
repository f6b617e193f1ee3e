"""The chain of a finding: what decided it, what its proof contradicts, and the proof."""

from __future__ import annotations

from harness.verdicts.diagnosis import LINKS_MAX, Diagnosis
from tests.diagnosis.mutant_chains import diagnosed, known
from tests.mutants import cancel_ignored, delivers_twice, fixed_waits


def _said(mutant: object) -> Diagnosis:
    about = mutant.MUTANT  # type: ignore[attr-defined]
    return diagnosed(known()[about.scenario], mutant.agent, about.killed_by)[1]  # type: ignore[attr-defined]


def test_an_answer_of_the_model_decides_and_the_proof_comes_after_it() -> None:
    said = _said(cancel_ignored)
    assert said.decision is not None
    assert said.decision.line.startswith("model  → use look_up")
    assert said.before is not None
    assert said.after is not None
    assert not said.before.is_likely
    assert said.after.is_likely
    assert said.decision.n < said.proof.n
    assert said.proof.n == max(link.n for link in said.links)


def test_what_an_agent_does_in_any_future_is_likely_from_the_start() -> None:
    said = _said(delivers_twice)
    assert said.start.is_likely
    assert said.decision is None
    assert said.links[0].role == "fact"
    assert said.links[-1].role == "proof"


def test_the_reason_is_that_of_the_rule() -> None:
    assert _said(fixed_waits).reason


def test_a_chain_is_short() -> None:
    said = _said(fixed_waits)
    assert len(said.links) <= LINKS_MAX
    assert [link.n for link in said.links] == sorted(link.n for link in said.links)
