"""A diagnosis as text and as a diagram: each case of likelihood, and texts of an agent."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import Finding
from harness.report.diagnosis_text import diagnosis_text, likely_words, mermaid
from harness.verdicts.diagnosis import Diagnosis, Link, Share

SAID = Diagnosis(
    run="refund@openai-chat",
    target="my_package.my_agent:agent",
    finding=Finding(
        "approval.another",
        "main/tool#1: pay runs with another input than the reply showed",
        (10, 13, 17),
        "weakness",
    ),
    reason="An answer about one call lets another one run.",
    start=Share(2, 8),
    before=Share(2, 8),
    after=Share(8, 8),
    end=Share(8, 8),
    links=(
        Link(9, 'model  → use pay {"invoice":"17"}', 0, "decision"),
        Link(10, 'outbox ← final "May I pay invoice 17?"', 0, "fact"),
        Link(13, 'inbox  → m2 "Yes, go on."', 0, "step"),
        Link(17, 'tool   ← pay {"invoice":"71"}', 7258, "proof"),
    ),
    played=32,
)


def _with(**fields: Any) -> Diagnosis:
    return msgspec.structs.replace(SAID, **fields)


@pytest.mark.parametrize("width", [60, 100])
def test_text(width: int, snapshot: SnapshotAssertion) -> None:
    lines = [*diagnosis_text(SAID, width)]
    assert "\n".join(lines) == snapshot
    assert max(map(len, lines)) <= width


def test_diagram(snapshot: SnapshotAssertion) -> None:
    assert mermaid(SAID) == snapshot


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (SAID, "likely since #9: of the futures drawn after it 8 of 8"),
        (_with(before=None, after=None, start=Share(8, 8)), "likely from the start: 8 of 8"),
        (_with(before=None, after=None, end=Share(3, 8)), "likely only by the whole course"),
    ],
)
def test_when_it_became_likely(said: Diagnosis, words: str) -> None:
    assert likely_words(said).startswith(words)


def test_a_finding_without_a_rule_contradicts_in_its_own_words() -> None:
    *_, last, _ = diagnosis_text(_with(reason=""), 200)
    assert last == f"both cannot be: {SAID.finding.message}"


HOSTILE = 'say "x"]; e9 --> gone\n%% {{#}} <img src=x onerror=alert(1)> \x1b[31m'


def test_words_of_an_agent_stay_words_in_a_diagram() -> None:
    links = (*SAID.links[:3], Link(17, HOSTILE, 0, "proof"))
    said = mermaid(_with(links=links, finding=Finding("x.y", HOSTILE, (17,)), reason=""))
    rows = said.splitlines()
    assert len(rows) == len(mermaid(SAID).splitlines())
    inside = [row[row.index('"') + 1 : row.rindex('"')] for row in rows if '"' in row]
    assert not any(set(row) & set("\"'`{}[]()|\x1b") for row in inside)
    assert "onerror" in said
    assert "<img" not in said
