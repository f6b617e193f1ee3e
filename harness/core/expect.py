"""What a scenario expects of a correct agent, as data: the part of the file that is judged."""

from __future__ import annotations

from harness.core.messages import Json
from harness.core.strict import Count, Strict
from harness.core.verdict import OutcomeWord


class Bounds(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """How often something may happen."""

    min: Count = 0
    max: Count | None = None


class ExpectCalls(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """Bounds of the calls on a seam; of tools, one by one."""

    model: Bounds | None = None
    tool: dict[str, Bounds] = {}


class Waits(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """A schedule of waits in seconds, each within `tolerance` of its own length."""

    schedule: tuple[float, ...] = ()
    tolerance: float = 0.0


class MustNot(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """What a correct agent never does: call these tools, say these words in a final or an error."""

    call: tuple[str, ...] = ()
    say: tuple[str, ...] = ()


class Expect(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """What a correct agent does in this scenario."""

    outcome: OutcomeWord | None = None
    must: tuple[str, ...] = ()
    must_not: MustNot = MustNot()
    calls: ExpectCalls = ExpectCalls()
    inputs: dict[str, Json] = {}
    waits_s: tuple[float, ...] | Waits | None = None
    known: tuple[str, ...] = ()
