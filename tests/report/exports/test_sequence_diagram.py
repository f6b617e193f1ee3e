"""The diagram of a run: who turned to whom, findings as notes, and a bounded number of steps."""

from __future__ import annotations

import re

from hypothesis import given
from syrupy.assertion import SnapshotAssertion

from harness.core.values.messages import ToolUse
from harness.core.values.verdict import Finding, Verdict
from harness.report.exports.exported_run import ExportedRun
from harness.report.exports.run_steps import shortened, steps_of
from harness.report.exports.sequence_diagram import STEPS_MOST, TOOLS_MOST, sequence_diagram
from tests.report.exports.made_runs import RunMaker, failing_run, histories

_LINE = re.compile(
    r"  (participant \w+ as .+|\w+(->>|-->>|--x)\w+: .+|Note over agent: .+)|sequenceDiagram"
)
GITHUB_MOST_CHARACTERS = 50_000


def _rows(run: ExportedRun) -> list[str]:
    return sequence_diagram(run).decode().splitlines()


def test_diagram(snapshot: SnapshotAssertion) -> None:
    assert sequence_diagram(failing_run()).decode() == snapshot


@given(histories())
def test_each_line_is_one_that_mermaid_reads(run: ExportedRun) -> None:
    rows = _rows(run)
    assert all(_LINE.fullmatch(row) for row in rows)
    named = {row.split()[1] for row in rows if row.startswith("  participant")}
    ends = [re.split(r"->>|-->>|--x|:", row.strip())[:2] for row in rows if re.search(r"\w-", row)]
    assert all({one, two} <= named for one, two in ends if "agent" in (one, two))


HOSTILE = 'end; x->>y: "z"\nNote over agent: forged # %% <img src=x onerror=alert(1)>'


def test_words_of_an_agent_stay_words() -> None:
    made = RunMaker()
    made.comes("main", 1, HOSTILE)
    made.asks("main", 1, ToolUse("t1", HOSTILE, {"x": HOSTILE}))
    made.runs("main", 1, ToolUse("t1", HOSTILE, {}), HOSTILE)
    rows = _rows(made.ended(Verdict("fail", "none", (Finding("x.y", HOSTILE),))))
    assert all(_LINE.fullmatch(row) for row in rows)
    assert not any("<img" in row or '"' in row for row in rows)
    assert not any(row.startswith("  Note over agent: forged") for row in rows)


def test_a_long_run_keeps_the_steps_of_findings_and_counts_the_others() -> None:
    made = RunMaker()
    made.comes("main", 1, "Go.")
    for number in range(TOOLS_MOST + 200):
        use = ToolUse(f"t{number}", f"tool_{number % (TOOLS_MOST + 3)}", {"text": "é" * 900})
        made.asks("main", 1, use)
        made.runs("main", 1, use, "ok " * 300)
    last = made.history.events[-2].n
    run = made.ended(Verdict("fail", "none", (Finding("x.y", "the last one", (last,)),)))
    text = sequence_diagram(run).decode()
    assert len(text) < GITHUB_MOST_CHARACTERS
    assert "x.y: the last one" in text
    kept = [part for part in shortened(steps_of(run), STEPS_MOST) if not isinstance(part, int)]
    left = [part for part in shortened(steps_of(run), STEPS_MOST) if isinstance(part, int)]
    assert len(kept) == STEPS_MOST
    assert len(kept) + sum(left) == len(steps_of(run))
    assert all(f"{number} steps not shown" in text for number in left if number > 1)
    assert text.count("participant tool") == TOOLS_MOST
    assert "participant others as other tools" in text
