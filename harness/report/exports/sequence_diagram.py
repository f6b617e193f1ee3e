"""A run as a sequence diagram in Mermaid: the user, the agent, the model, each tool, the store.

GitHub draws it in a pull request, and refuses a diagram of more than 50,000 characters. So the
steps and the tools are bounded, and the diagram says how many it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.visible_text import abridged
from harness.redaction.encoder import encoded
from harness.report.diagnosis_text import entities, shown
from harness.report.exports.exported_run import ExportedRun
from harness.report.exports.run_steps import (
    MODEL,
    STORE,
    USER,
    RunStep,
    lanes_of,
    shortened,
    steps_of,
)
from harness.report.run_report import MARKS
from harness.verdicts.event_lines import counted

STEPS_MOST, TOOLS_MOST = 60, 8
"""The most steps of a diagram, and the most tools with a column."""

WORDS_MOST = 120
_OTHERS = "other tools"


def sequence_diagram(run: ExportedRun) -> bytes:
    """The diagram of a run, with a line end."""
    steps = steps_of(run)
    ids = _ids(steps)
    lines = ["sequenceDiagram", *(f"  participant {ids[lane]} as {_label(lane)}" for lane in ids)]
    for part in shortened(steps, STEPS_MOST):
        if isinstance(part, int):
            lines.append(_note(f"{counted(part, 'step')} not shown"))
        else:
            lines += _drawn(part, ids)
    lines += _end(run)
    return encoded("\n".join(f"{line}" for line in lines) + "\n")


def _ids(steps: list[RunStep]) -> dict[str, str]:
    """The names of the columns by their sides, in the order in which they stand.

    The name of a tool is the agent's or the user's word, so a column is named by a number.
    """
    met = lanes_of(steps)
    tools = [lane for lane in met if lane not in (USER, MODEL, STORE)]
    ids = {USER: "user", "agent": "agent", MODEL: "model"}
    ids |= {lane: f"tool{number}" for number, lane in enumerate(tools[:TOOLS_MOST])}
    if tools[TOOLS_MOST:]:
        ids[_OTHERS] = "others"
    return ids | ({STORE: "store"} if STORE in met else {})


def _drawn(step: RunStep, ids: dict[str, str]) -> Iterator[str]:
    if step.lane:
        other = ids.get(step.lane) or ids[_OTHERS]
        arrow = "--x" if step.is_bent else "-->>" if step.comes else "->>"
        one, two = (other, "agent") if step.comes else ("agent", other)
        yield f"  {one}{arrow}{two}: {_label(f'#{step.n} {step.words}')}"
    else:
        yield _note(f"#{step.n} {step.words}")
    for finding in step.findings:
        yield _note(f"{MARKS['fail']} {finding.code}: {finding.message}")


def _end(run: ExportedRun) -> Iterator[str]:
    """The findings that no event proves, and the verdict."""
    for finding in run.verdict.findings:
        if not finding.events:
            yield _note(f"{MARKS['fail']} {finding.code}: {finding.message}")
    word = run.verdict.verdict
    yield _note(f"{MARKS[word]} {word}, outcome {run.verdict.outcome}")


def _note(text: str) -> str:
    return f"  Note over agent: {_label(text)}"


def _label(text: str) -> str:
    return entities(abridged(shown(text), WORDS_MOST))
