"""The system text of a session holds what the users of the others have told."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.gateway import Gateway
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="A memory of the users is shown to all of them (seed 14)",
    scenario="words-of-another-user",
    killed_by="session_isolation.system",
)


def agent(brief: Brief) -> None:
    """The reference agent with one memory, which each session reads when it begins."""
    model, said, notes = standard_model(brief), list[str](), dict[str, str]()
    now = [""]

    class Remembering(Gateway):
        def receive(self, inbound: Inbound) -> None:
            now[0] = inbound.session
            notes.setdefault(inbound.session, "\n".join(["Notes:", *said]))
            said.append(inbound.text)
            super().receive(inbound)

    class Noted:
        def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
            system = f"{query.system}\n{notes[now[0]]}"
            return model.query(msgspec.structs.replace(query, system=system), show)

    build(brief, gateway=Remembering, model=Noted()).run()
