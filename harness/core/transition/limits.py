"""How the world answers past a limit of a run.

The answer has the seam's own type, as the provider or tool would give it. An agent that still goes
on is stopped.
"""

from __future__ import annotations

from harness.core.history.history import History
from harness.core.scenario.scenario import Limits
from harness.core.values.plans import ApiError, Raise

STOP = Raise("stop", "loop-harness: the run is over")

LIMIT_ANSWERS_MAX = 20
"""How often a limit is answered before an agent that goes on calling is stopped."""


def limit_text(name: str, limits: Limits) -> str:
    """A limit in words."""
    return f"loop-harness: the limit {name} = {getattr(limits, name):g} is reached"


def over_limit(name: str, limits: Limits, history: History) -> ApiError | None:
    """The provider's answer past a limit; None once the agent has been told often enough."""
    if history.past.limit_answers >= LIMIT_ANSWERS_MAX:
        return None
    headers = {"x-should-retry": "false"}
    return ApiError(400, "invalid_request_error", limit_text(name, limits), headers)
