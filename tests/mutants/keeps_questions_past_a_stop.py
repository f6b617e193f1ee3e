"""A stop ends the turn, and the question of the turn stays open: a late yes runs the call."""

from __future__ import annotations

import threading

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.catalogue.agents.approvals import ends_the_question_with_the_turn as look_alike
from tests.mutants import Mutant

__all__ = ["MUTANT", "agent", "look_alike"]

MUTANT = Mutant(
    breaks="turn",
    statement="A yes that comes after a stop lets the call run in the next turn (issue 34)",
    scenario="gated-call-in-a-batch/stopped-while-open",
    killed_by="approval.stopped",
)


def agent(brief: Brief) -> None:
    """The reference agent that leaves an open question to a thread."""
    open_questions: list[tuple[threading.Thread, ToolUse]] = []
    allowed: set[str] = set()

    class Asking(Loop):
        def run(self) -> Outcome:
            for asking, call in open_questions:
                asking.join()
                if call.id in allowed:
                    self.toolbox.run(call)
            open_questions.clear()
            return super().run()

        def result_of_gated(self, call: ToolUse) -> ToolResult:
            def ask() -> None:
                if self.toolbox.approved(call).answer == "allow":
                    allowed.add(call.id)

            asking = threading.Thread(target=ask, daemon=True)
            asking.start()
            while asking.is_alive() and not self.is_cancelled():
                brief.clock.sleep(1)
            if call.id in allowed:
                return self.watched(call, self.toolbox.run(call))
            open_questions.append((asking, call))
            return error_result(call, "Not run: the user stopped the turn.")

    build(brief, turn=Asking).run()
