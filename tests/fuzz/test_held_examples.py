"""What an agent lacks explains a finding of a campaign as it does in `harness run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic

from harness.checks import names
from harness.core.values.brief import Brief
from harness.core.values.profile import Capability
from harness.core.values.verdict import NO_CAUSE, Cause, Finding
from harness.fuzz.batch import Batch, BatchResult, play_all
from harness.fuzz.campaign import Campaign, begin, resume
from harness.fuzz.campaign_journal import CampaignPlan
from harness.fuzz.example import RawFinding
from harness.fuzz.held_examples import MOST_ALIKE, CauseCount, HeldExamples, ShownByExamples
from harness.targets.spec import resolve

PLAN = CampaignPlan(target="naive", seed=11)
CODE = "history_faithful.forgotten_reply"


def shown(example: int, *needs: Capability, kind: str = "") -> ShownByExamples:
    finding = Finding(CODE, "x", (example,), "defect", cause=Cause(fault=kind))
    found, cause = RawFinding(finding, example, ()), CauseCount(finding, example)
    return ShownByExamples(needs, 1, (found,), (cause,))


def result(number: int, *held: ShownByExamples, used: tuple[Capability, ...] = ()) -> BatchResult:
    return BatchResult(number=number, examples=25, held=held, used=used)


def codes(campaign: Campaign) -> list[str]:
    return [found.code for found in campaign.findings.waiting]


def test_a_finding_waits_for_an_example_that_uses_what_it_needs(tmp_path: Path) -> None:
    campaign, journal = begin(tmp_path, PLAN, names())
    for number, used in enumerate(((), ("streaming",))):
        taken = campaign.take(result(number, shown(25 * number + 1, "session"), used=used))
        assert isinstance(taken, BatchResult)
        journal.write(taken)
        assert (codes(campaign), campaign.causes, taken.found) == ([], {}, ())
    ((lack, examples),) = campaign.held.not_applicable()
    assert (lack.missing, lack.kind, examples) == ("session", "unused", 2)
    assert "no example of this campaign showed a seeded message" in lack.reason
    taken = campaign.take(result(2, used=("session",)))
    assert isinstance(taken, BatchResult)
    journal.write(taken)
    journal.close()
    assert [found.example for found in taken.found] == [1]
    assert campaign.causes[CODE, NO_CAUSE].runs == 2
    assert list(campaign.held.not_applicable()) == []
    again, journal = resume(tmp_path, names())
    journal.close()
    assert (
        (codes(again), again.causes) == (codes(campaign), campaign.causes) == ([CODE], again.causes)
    )


def test_a_finding_that_needs_what_was_used_is_settled_at_once() -> None:
    held = HeldExamples()
    both = shown(1, "session", "streaming")
    assert held.take(("session",), [both]) == []
    assert held.waits(1)
    assert held.take(("streaming",), [shown(2, "session")]) == [both, shown(2, "session")]
    assert not held.waits(1)


def test_a_few_findings_of_a_code_are_held() -> None:
    held = HeldExamples()
    for example in range(1, 40):
        held.take((), [shown(example, "session", kind=f"fault {example % 20}")])
    assert [held.waits(n) for n in (1, MOST_ALIKE, MOST_ALIKE + 1, 39)] == [
        True,
        True,
        False,
        False,
    ]
    ((_, examples),) = held.not_applicable()
    assert examples == 39


def bare(brief: Brief) -> None:
    """An agent without a session, a stream and tools."""
    client = brief.anthropic(max_retries=0)
    for inbound in brief.inbox():
        asked: Any = [{"role": "user", "content": inbound.text or "?"}]
        try:
            said = client.messages.create(model="m", max_tokens=64, messages=asked).content
        except anthropic.APIError:
            brief.send("It failed.", kind="error")
        else:
            brief.send(said[0].text if said and said[0].type == "text" else "Nothing.")


def test_what_an_agent_without_a_session_shows_is_held() -> None:
    target = f"{bare.__module__}:bare"
    batch = Batch(number=0, first=1, count=10, seed=5, target=target)
    played = play_all(batch, resolve(target))
    assert "outbox" in played.used
    assert "session" not in played.used
    held = [one for one in played.held if "session" in one.needs]
    told = {run.example for run in played.runs}
    assert {found.example for one in held for found in one.found} & told
    free = {found.example for found in played.found}
    assert not free & {found.example for one in held for found in one.found}
