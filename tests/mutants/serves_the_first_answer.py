"""The user's answer is kept by the call's words, and served when the same call is asked again."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse, canonical
from tests.mutants import Mutant
from tests.mutants.approvals_handled import play_asking

MUTANT = Mutant(
    breaks="turn",
    statement="A second resume is served the value of the first (langgraph#6663)",
    scenario="asked-again-decided-otherwise",
    killed_by="approval.denied",
)


def _take(loop: Loop, call: ToolUse, *, kept: Path, by_call: bool = False) -> ToolResult:
    """Ask, and go by the first answer that was ever given to such a question."""
    assert loop.toolbox._ask is not None
    said = loop.toolbox._ask(call.name, call.input, id=call.id)
    known = json.loads(kept.read_text()) if kept.exists() else {}
    place = call.id if by_call else f"{call.name} {canonical(call.input)}"
    answer = known.setdefault(place, said.answer)
    kept.write_text(json.dumps(known))
    if answer == "allow":
        return loop.watched(call, loop.toolbox.run(call))
    return ToolResult(call.id, f"The user denied it. {said.reason}", is_error=True)


def agent(brief: Brief) -> None:
    """The reference agent that keeps answers by what was asked."""
    play_asking(brief, partial(_take, kept=Path(brief.session_dir) / "answers.json"))


def look_alike(brief: Brief) -> None:
    """One that keeps them by the id of the call."""
    kept = Path(brief.session_dir) / "answers.json"
    play_asking(brief, partial(_take, kept=kept, by_call=True))
