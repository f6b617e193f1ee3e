"""Guards: pure state machines that watch the tool calls of one turn.

A guard is asked before a call runs and told its result afterwards; it answers with a decision and
does nothing else, so it serves in anybody's loop. First comes guidance (the model may not know
what it does wrong), then refusal (the call is not run), then the end of the turn.
"""

from harness.agent.guards.decisions import Decision, EndTurn, Guard, Guide, Proceed, Refuse
from harness.agent.guards.empty_input import EmptyInputGuard
from harness.agent.guards.identical_failure import IdenticalFailureGuard
from harness.agent.guards.repeat import RepeatGuard
from harness.agent.guards.watch import Watch, standard_guards

__all__ = [
    "Decision",
    "EmptyInputGuard",
    "EndTurn",
    "Guard",
    "Guide",
    "IdenticalFailureGuard",
    "Proceed",
    "Refuse",
    "RepeatGuard",
    "Watch",
    "standard_guards",
]
