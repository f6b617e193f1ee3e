"""A call that was under way at a kill is carried out again at the next start."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.agent.conversation.projection import Projection
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import results
from harness.stores.session_store import SessionStore
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A resume runs the command that ended the agent (NousResearch/hermes-agent#49201)",
    scenario="restarts-itself",
    killed_by="resume_bounded.executed",
)


class Diligent(RowTranscript):
    """Finishes what was begun."""

    def __init__(
        self, tools: Toolbox, store: SessionStore, session: str, project: Projection
    ) -> None:
        super().__init__(store, session, project)
        self._tools = tools

    def resume(self, inbound: Inbound) -> int:
        """Run the calls that have no result."""
        attempts = self._store.begin(inbound)
        self._rows = self.load()
        if calls := self._rows[-1].message.tool_uses:
            self.append(results(*(self._tools.run(call) for call in calls)))
        return attempts


def agent(brief: Brief) -> None:
    """The reference agent that runs open calls again."""
    build(brief, transcript=partial(Diligent, standard_tools(brief))).run()
