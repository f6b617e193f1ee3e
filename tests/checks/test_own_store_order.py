"""A store of the agent's own is read beside its writes: their order is not judged, the rest is."""

from __future__ import annotations

from typing import Any

from harness.checks.durability import durable_first
from harness.checks.judge import judge
from harness.core.history.history import History
from harness.core.values.messages import assistant, user
from tests.checks.histories import Story, codes

OWN: dict[str, Any] = {"settings": {"own_store": True}}


def late(**start: Any) -> History:
    """A turn whose rows are seen only after its reply was delivered."""
    story = Story(stores=False, **start).turn("one").reply("1").final()
    return story.row(user("one"), assistant("1")).end()


def test_rows_that_are_seen_late_are_no_finding_in_a_store_of_the_agents_own() -> None:
    assert codes(durable_first(late())) == ["durable_first.inbound", "durable_first.reply"]
    assert codes(durable_first(late(**OWN))) == []


def test_what_is_not_asked_is_said() -> None:
    verdict = judge(late(**OWN))
    assert verdict.findings == ()
    aside = {n.check for n in verdict.not_applicable}
    assert {"durable_first.inbound", "durable_first.reply"} <= aside
    assert "durable_first" not in verdict.passed
    assert "durable_first" in judge(Story().turn("one").reply("1").final().end()).passed


def test_a_reply_that_an_own_store_never_keeps_is_still_found() -> None:
    story = Story(stores=False, **OWN).turn("one").reply("1").final().row(user("one"))
    found = {finding.code for finding in judge(story.end()).findings}
    assert "reload_equivalence.lost_reply" in found
