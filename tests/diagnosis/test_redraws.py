"""Futures: the run is what it was up to an answer, and drawn after it.

The chain of a finding: what decided it, what its proof contradicts, and the proof.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from examples.naive_agent import agent as naive
from harness import Fault, InboxItem, Scenario, ToolScript, ToolTurn, Turn, run
from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.transition.arming import ArmedFault
from harness.core.values.verdict import Finding, Verdict
from harness.diagnosis.redraws import LaterReplies, Redraws, answers_before
from harness.verdicts.diagnosis import LINKS_MAX, Diagnosis, Share
from tests.diagnosis.mutant_chains import diagnosed, known
from tests.mutants import cancel_ignored, delivers_twice, fixed_waits

LOOK = Turn(use="look", input={})
SCENARIO = Scenario(
    name="looks",
    policy="open",
    tools={"look": ToolScript(script=(ToolTurn(ok="nothing yet", times="forever"),))},
    inbox=(InboxItem(text="Look until it is there."),),
    script=(LOOK, LOOK, LOOK, Turn(say="It is not there.")),
)


def _looks(verdict_of: History) -> int:
    calls = (event for event in verdict_of.events if isinstance(event, Called))
    return sum(event.seam == "tool" for event in calls)


def _histories(after: str) -> list[tuple[int, History]]:
    """Each future after a call, and how often the agent looked in it."""
    seen: list[tuple[int, History]] = []

    def play(scenario: Scenario, probes: Sequence[ArmedFault]) -> Verdict:
        played = run(scenario, naive, probes=probes)
        seen.append((_looks(played.history), played.history))
        return played.verdict

    history = run(SCENARIO, naive).history
    answer = next((e for e in history.events if isinstance(e, Answered) and e.key == after), None)
    Redraws(SCENARIO, history, Finding("x.y", "said", ()), play).share(answer)
    return seen


@pytest.mark.parametrize(("after", "kept"), [("", 0), ("main/model#1", 1), ("main/model#2", 2)])
def test_what_came_before_stays_and_the_first_future_is_calm(after: str, kept: int) -> None:
    looks = [number for number, _ in _histories(after)]
    assert looks[0] == kept  # after the answer the model ends the turn at once
    assert min(looks) == kept
    assert max(looks) > kept  # and in others it goes on


def test_futures_are_the_same_each_time() -> None:
    assert [looks for looks, _ in _histories("")] == [looks for looks, _ in _histories("")]


def test_a_fault_that_struck_before_the_answer_stays_and_a_later_one_is_drawn() -> None:
    scenario = msgspec.structs.replace(
        SCENARIO,
        faults=(Fault("http.overloaded", when=1), Fault("http.server_error", when=4)),
    )
    history = run(scenario, naive).history
    kinds: list[set[str]] = []

    def play(future: Scenario, probes: Sequence[ArmedFault]) -> Verdict:
        kinds.append({fault.kind for fault in future.faults})
        return Verdict("pass")

    redraws = Redraws(scenario, history, Finding("x.y", "said", ()), play)
    redraws.share(next(a for a in answers_before(history, 1000) if a.faults))
    assert all("http.overloaded" in each for each in kinds)
    assert kinds[0] == {"http.overloaded"}
    assert any("http.server_error" in each for each in kinds)


def _shares(*shown: int) -> tuple[Redraws, list[Answered]]:
    """Futures with known shares: from the beginning on, and after each answer."""
    history = run(SCENARIO, naive).history
    answers = answers_before(history, 10_000)[: len(shown) - 1]
    redraws = Redraws(SCENARIO, history, Finding("x.y", "said", ()), _never, futures=8)
    for answer, number in zip([None, *answers], shown, strict=True):
        redraws._shares[answer.n if answer else 0] = Share(number, 8)
    return redraws, answers


def _never(scenario: Scenario, probes: Sequence[ArmedFault]) -> Verdict:
    raise AssertionError("each share is known")


def test_the_first_answer_after_which_most_futures_show_it_decides() -> None:
    redraws, answers = _shares(1, 2, 4, 7, 8)
    assert redraws.decisive(answers) == answers[2]


@pytest.mark.parametrize("shown", [(5, 8, 8), (0, 3, 4)])
def test_from_the_beginning_on_and_by_the_whole_course_no_answer_decides(
    shown: tuple[int, ...],
) -> None:
    redraws, answers = _shares(*shown)
    assert redraws.decisive(answers) is None


def test_without_an_answer_none_decides() -> None:
    assert _shares(1)[0].decisive([]) is None


def test_replies_for_a_summary_are_never_drawn() -> None:
    later = LaterReplies("", lambda key: True)
    history = run(SCENARIO, naive, probes=[later]).history
    assert _looks(history) == 0


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
