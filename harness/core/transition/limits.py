"""The answers of the fake world past a limit of a run, and where the script has none.

The answer has the form of the seam: an error of the provider or of the tool. An agent that
continues after several such answers is stopped.
"""

from __future__ import annotations

from harness.core.history.past import Past
from harness.core.scenario.scenario import Limits
from harness.core.transition.ports import Provider
from harness.core.values.plans import ApiError, Raise

STOP = Raise("stop", "loop-harness: the run is over")

LIMIT_ANSWERS_MAX = 20
"""The number of answers at a limit before an agent that continues is stopped."""


def limit_text(name: str, limits: Limits) -> str:
    """The message for a limit."""
    return f"loop-harness: the limit {name} = {getattr(limits, name):g} is reached"


def over_limit(name: str, limits: Limits, past: Past, wire: Provider) -> ApiError | None:
    """The provider's answer past a limit; None after enough such answers."""
    if past.limit_answers >= LIMIT_ANSWERS_MAX:
        return None
    return no_answer(limit_text(name, limits), wire)


def no_answer(text: str, wire: Provider) -> ApiError:
    """The provider's answer where there is none: the SDK is told not to ask again."""
    return ApiError(400, "invalid_request_error", text, dict(wire.headers.final))
