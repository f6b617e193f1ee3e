"""The answers of the fake world past a limit of a run.

The answer has the form of the seam: an error of the provider or of the tool. An agent that
continues after several such answers is stopped.
"""

from __future__ import annotations

from harness.core.history.history import History
from harness.core.scenario.scenario import Limits
from harness.core.values.plans import ApiError, Raise

STOP = Raise("stop", "loop-harness: the run is over")

LIMIT_ANSWERS_MAX = 20
"""The number of answers at a limit before an agent that continues is stopped."""


def limit_text(name: str, limits: Limits) -> str:
    """The message for a limit."""
    return f"loop-harness: the limit {name} = {getattr(limits, name):g} is reached"


def over_limit(name: str, limits: Limits, history: History) -> ApiError | None:
    """The provider's answer past a limit; None after enough such answers."""
    if history.past.limit_answers >= LIMIT_ANSWERS_MAX:
        return None
    headers = {"x-should-retry": "false"}
    return ApiError(400, "invalid_request_error", limit_text(name, limits), headers)
