"""A run as one card: its name, its verdict, its findings, and the steps at a glance.

It is narrow, so that a telephone shows it in letters that can be read. The steps are a row of bars
for each side of the agent, from left to right; the step that begins to prove a finding is red.
"""

from __future__ import annotations

from harness.redaction.encoder import encoded
from harness.report.exports.exported_run import ExportedRun
from harness.report.exports.run_steps import RunStep, lanes_of, shortened, steps_of
from harness.report.run_report import MARKS
from harness.report.svg_card import CHARACTER, MARGIN, SvgCard
from harness.verdicts.event_lines import at, counted

WIDTH = 480
"""The width of the card: at 390 pixels its letters are 11 pixels high."""

FINDINGS_MOST, MESSAGE_LINES = 4, 4
"""The most findings with their words, and the most lines of one."""

LANES_MOST, LANE_NAME = 9, 12
"""The most sides with a row, and the characters of a side's name."""

STEPS_MOST = 300
"""The most steps of a card: a bar of each is a pixel wide."""

BAR_MOST = 12.0
"""The width of a step of a short run, in pixels; those of a long run share the room."""


def run_card(run: ExportedRun) -> bytes:
    """The SVG of a run, with a line end."""
    card, word = SvgCard(WIDTH), run.verdict.verdict
    card.text(run.name, "proof")
    card.text(_about(run), "faint")
    card.space()
    style = "code" if word == "fail" else "proof"
    card.text(f"{MARKS[word]} {word}, outcome {run.verdict.outcome}", style)
    _findings(card, run)
    card.space()
    _steps(card, run)
    return encoded(card.svg(f"{run.name}: {word}"))


def _about(run: ExportedRun) -> str:
    head, last = run.head, run.history.events[-1:]
    took = f", {at(last[0].at_ms)}" if last else ""
    return f"{head.target or 'recorded'}, seed {head.seed}{took}"


def _findings(card: SvgCard, run: ExportedRun) -> None:
    found = run.verdict.findings
    for finding in found[:FINDINGS_MOST]:
        card.space()
        card.dot("dot")
        card.text(finding.code, "code", 24)
        card.text(finding.message, "", 24, MESSAGE_LINES)
    if more := len(found[FINDINGS_MOST:]):
        card.text(f"and {counted(more, 'more finding')}", "faint", 24)
    for doubt in run.verdict.doubts[:FINDINGS_MOST]:
        card.text(f"doubt: {doubt}", "faint", 0, MESSAGE_LINES)


def _steps(card: SvgCard, run: ExportedRun) -> None:
    parts = list(shortened(steps_of(run), STEPS_MOST))
    steps = [part for part in parts if isinstance(part, RunStep)]
    left_out = sum(part for part in parts if isinstance(part, int))
    more = f", {left_out} not shown" if left_out else ""
    card.text(f"{counted(len(steps), 'step')} from left to right{more}", "faint")
    card.text("red: a finding; brown: a fault or a failure", "faint")
    lanes = lanes_of(steps)
    left = MARGIN + LANE_NAME * CHARACTER
    wide = min(BAR_MOST, (WIDTH - MARGIN - left) / max(len(steps), 1))
    for lane in lanes[:LANES_MOST]:
        for place, step in enumerate(steps):
            if step.lane == lane:
                _bar(card, step, left + place * wide, wide)
        name = lane.removeprefix("tool ")
        card.text(name if len(name) < LANE_NAME else f"{name[: LANE_NAME - 2]}…")
    if others := lanes[LANES_MOST:]:
        card.text(f"and {counted(len(others), 'more side')}", "faint")


def _bar(card: SvgCard, step: RunStep, x: float, wide: float) -> None:
    style = "dot" if step.findings else "bent" if step.is_bent else "fact"
    codes = ", ".join(finding.code for finding in step.findings)
    label = f"#{step.n} {step.words}{f': {codes}' if codes else ''}"
    card.bar(style, x, max(wide - 2, wide * 0.8), label)
