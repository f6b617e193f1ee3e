"""The cases of a sweep: each fault that can meet a call is one, and says what it stands for.

Faults that give the agent the same answer at one call are one case. A kind that meets no call is
not reachable, and the reason is said: nothing is left out in silence.

The history of a run tells its points of choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

import msgspec

from harness import faults
from harness.core.history.events import Ended, Killed
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec
from harness.core.transition.arming import seam_of
from harness.core.values.orders import ChoicePoint, Order
from harness.sweep.fault_meetings import Meeting

NO_FAULT = FaultSpec(kind="")


class Case(msgspec.Struct, frozen=True, kw_only=True, tag="case", omit_defaults=True):
    """A run of the scenario `run` with one fault more, at a call.

    `number` counts the cases of the sweep from 1. `stands_for` are the further faults that come to
    the same answer there; `plan` is the digest of that answer. `beside` is the number of the case
    whose fault is there too, and strikes first; 0 for none. A case of `orders` has no fault: these
    are all its changes, and `call` says the last of them in words.
    """

    number: int
    run: str
    call: str
    fault: FaultSpec = NO_FAULT
    orders: tuple[Order, ...] = ()
    stands_for: tuple[FaultSpec, ...] = ()
    plan: str = ""
    beside: int = 0

    @property
    def text(self) -> str:
        """The fault with its settings, and its call; or the last change of the order."""
        return self.call if self.orders else f"{fault_text(self.fault)} at {self.call}"


class NotReached(msgspec.Struct, frozen=True, tag="not_reached"):
    """A kind of fault that can meet no call of the scenario `run`, and why."""

    run: str
    kind: str
    why: str


def fault_text(fault: FaultSpec) -> str:
    """A fault with its settings, as a person writes it.

    >>> fault_text(FaultSpec(kind="http.status", settings={"status": 503}))
    'http.status status=503'
    """
    settings = (f"{name}={value}" for name, value in fault.settings.items())
    return " ".join((fault.kind, *settings))


def same_answers(met: Iterable[Meeting]) -> list[list[Meeting]]:
    """The meetings in groups, each of faults that give the agent the same answer at one call."""
    same: dict[tuple[str, str], list[Meeting]] = defaultdict(list)
    for meeting in met:
        same[meeting.call, meeting.plan].append(meeting)
    return list(same.values())


def case_of(
    number: int, run: str, specs: Sequence[FaultSpec], group: Sequence[Meeting], beside: int = 0
) -> Case:
    """The case of a group: its first fault strikes, and stands for the others."""
    first = group[0]
    return Case(
        number=number,
        run=run,
        call=first.call,
        fault=msgspec.structs.replace(specs[first.variant], when=first.number),
        stands_for=tuple(specs[one.variant] for one in group[1:]),
        plan=first.plan,
        beside=beside,
    )


def cases_of(
    run: str, specs: Sequence[FaultSpec], met: Iterable[Meeting], first: int
) -> list[Case]:
    """The cases of a scenario, numbered from `first`, in the order of the calls."""
    groups = sorted(same_answers(met), key=lambda group: group[0].variant)
    order = {call: place for place, call in enumerate(dict.fromkeys(m.call for m in met))}
    groups.sort(key=lambda group: order[group[0].call])
    return [case_of(number, run, specs, group) for number, group in enumerate(groups, start=first)]


CHANGES_NOTHING = "it changes no answer of this run"


def not_reached(
    run: str,
    kinds: Iterable[str],
    specs: Sequence[FaultSpec],
    met: Sequence[Meeting],
    seams: Collection[str],
) -> list[NotReached]:
    """The kinds that meet no call, each with its reason; `seams` are those that the run calls."""
    reached = {specs[one.variant].kind for one in met}
    played = {spec.kind for spec in specs}
    return [
        NotReached(run, kind, _why(kind, played, seams)) for kind in kinds if kind not in reached
    ]


def _why(kind: str, played: set[str], seams: Collection[str]) -> str:
    if kind not in played:
        return "the target cannot be played with it"
    fault = faults.by_kind(kind)
    seam = seam_of(fault.on or fault.seams[0])
    return CHANGES_NOTHING if seam in seams else f"the run makes no call of the seam {seam}"


KILLED = "the agent is killed, and each of its lives has points of choice of its own"


def points_of(history: History) -> tuple[ChoicePoint, ...]:
    """The points of choice of the last life of a run."""
    last = history.events[-1] if history.events else None
    return last.points if isinstance(last, Ended) else ()


def why_unordered(history: History) -> str:
    """Why the orders of a run cannot be swept; "" for one that can."""
    return KILLED if any(isinstance(event, Killed) for event in history.events) else ""


def came_about(history: History, orders: Sequence[Order]) -> bool:
    """Whether each of the orders was taken: its point came, and had that place."""
    points = points_of(history)
    return all(
        order.at <= len(points) and points[order.at - 1].went == order.first for order in orders
    )
