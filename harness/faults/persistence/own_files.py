"""Kills at a write to the agent's own files, and a bad line in one of them.

The harness wraps no such file. It looks at them before each call, so a write is what changed since
the call before, and nothing comes between. `docs/targets.md` says what this cannot reach.
"""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.calls import StoreRequest
from harness.core.values.plans import Kill, Plan

KILLS = ("killed_at_own_write", "own_line_garbled")
SEAMS = ("file",)
ON = "store:file"

_LEAVES = {"before": Kill("undone"), "inside": Kill("torn"), "after": Kill()}


def killed_at_own_write(
    moment: Moment, plan: Plan, *, point: Literal["before", "inside", "after"] = "inside"
) -> Plan:
    """The process is killed at a write to one of the agent's files: before, inside or after it.

    Inside, half of the last line has come, or half of a file that is written again in its place. A
    file that is replaced by renaming, and a database, has no such half: there it does not strike.
    """
    how = _written(moment)
    strikes = how in ("append", "rewrite") if point == "inside" else how
    return (_LEAVES[point], *plan) if strikes else plan


def own_line_garbled(moment: Moment, plan: Plan) -> Plan:
    """The process is killed, and half a line stands before the last line of the agent's file."""
    return (Kill("garbled"), *plan) if _written(moment) == "append" else plan


def _written(moment: Moment) -> str:
    """How a file was written."""
    request = moment.call.request
    return request.store if isinstance(request, StoreRequest) else ""
