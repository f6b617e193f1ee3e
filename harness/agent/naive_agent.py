"""The naive agent: the loop of a tutorial, on every provider that the reference agent supports.

It does what the model asks for, without a bound, a guard, a repair, a retry or a store. `harness
run FILE --target naive` shows the effect of a scenario on such an agent. `harness import` plays it
to verify that a scenario reproduces its incident.
"""

from __future__ import annotations

from pathlib import Path

from harness.agent.composition import seed_of, standard_model
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import Query
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from harness.core.values.messages import results, user

SORRY = "Sorry, something went wrong. Please try again."


class NaiveAgent:
    """One conversation for each session, kept in memory and sent unchanged."""

    def __init__(self, brief: Brief) -> None:
        self._model, self._toolbox = standard_model(brief), Toolbox(brief.tools)
        self._sessions = {"main": seed_of(Path(brief.session_dir))}

    def turn(self, session: str, text: str) -> str:
        """Call the model until it calls no tool; return its last text. Raises ModelFailure."""
        messages = self._sessions.setdefault(session, [])
        messages.append(user(text))
        while True:
            said = self._model.query(Query(tuple(messages), self._toolbox.specs)).message
            messages.append(said)
            if not said.tool_uses:
                return said.text
            messages.append(results(*map(self._toolbox.run, said.tool_uses)))


def agent(brief: Brief) -> None:
    """Answer every message; after an error of the model, apologise."""
    naive = NaiveAgent(brief)
    for inbound in brief.inbox():
        try:
            text = naive.turn(inbound.session, inbound.text)
        except ModelFailure:
            text = SORRY
        brief.send(text, session=inbound.session, in_reply_to=inbound.id)
