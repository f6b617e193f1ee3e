"""What the agent's author says in its code: a mark that always holds, a place that no run reaches.

Only the author knows these, so no other check asks them. One run cannot show that a `sometimes` or
a `reachable` is wrong: the reach of a campaign tells which of them never came.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.declarations import needs
from harness.checks.evidence.seen_marks import seen_marks
from harness.core.history.events import Marked
from harness.core.history.history import History
from harness.core.values.mark_kinds import MEANINGS, is_broken
from harness.core.values.messages import canonical
from harness.core.values.verdict import Cause, Finding

_RULES = {"always": "broken", "unreachable": "reached"}


@needs(told_by="run", place=445)
def own_marks(history: History) -> Iterator[Finding]:
    """What the agent's author marked in its code is so.

    `broken`: a condition that `harness.always` marks did not hold. `reached`: the agent came to a
    place that `harness.unreachable` marks. A mark has one finding, at the first event that shows
    it, with the place in the code and the details of the call.

    A `sometimes` that never held and a `reachable` that was never reached are not findings of one
    run. `harness run`, `fuzz` and `sweep` end with them, and `--require-reached mark:NAME` asks for
    one. Marks of a program come from the file that the SDKs of Antithesis write. Source: the
    agent's own code.
    """
    told = set[tuple[str, str]]()
    for mark in seen_marks(history.trace):
        if is_broken(mark.kind, mark.holds) and (mark.kind, mark.name) not in told:
            told.add((mark.kind, mark.name))
            cause = Cause(subject=mark.name)
            yield Finding(f"own_marks.{_RULES[mark.kind]}", _words(mark), (mark.n,), cause=cause)


def _words(mark: Marked) -> str:
    """The sentence of a finding: the mark, its place in the code, and the details."""
    turn = f" in turn {mark.turn} of {mark.session}" if mark.turn else ""
    where = f" at {mark.where}" if mark.where else ""
    details = f": {canonical(mark.details)}" if mark.details else ""
    return f"{mark.kind} {mark.name!r} {MEANINGS[mark.kind]}{turn}{where}{details}"
