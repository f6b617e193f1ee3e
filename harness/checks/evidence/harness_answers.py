"""The part of a history that tells of the agent: it ends with the harness's first own answer.

Past a limit and past the end of a script the harness answers 400 in its own name. No provider says
that, so what an agent does next is no evidence.
"""

from __future__ import annotations

from harness.checks.evidence.turn_outcomes import is_our_own
from harness.core.history.history import History


def before_own_answers(history: History) -> History:
    """The history up to and with the first answer that the harness gave for itself.

    Its last turn is still open, as in a history that was broken off.
    """
    first = next((a.n for a in history.trace.answers if is_our_own(a)), 0)
    if not first:
        return history
    part = History()
    for event in history.events:
        if event.n <= first:
            part.take(event)
    return part
