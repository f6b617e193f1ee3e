"""One course in many writings: what an agent does may not depend on how an answer is written.

An answer comes whole, as a stream, in other pieces or on another wire, and it says the same. So the
agent calls the same tools with the same inputs, and tells its user the same. Only a scenario
without faults has one course: clients retry a failure in their own ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import msgspec

from harness.core.history.exchanges import ENDINGS, Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.scenario.scenario import CassetteScript, FaultSpec, Scenario
from harness.core.values.calls import OutboxRequest
from harness.core.values.carried_text import is_asked, lost_parts
from harness.core.values.messages import canonical, without_blanks
from harness.core.values.verdict import Cause, Finding, Verdict
from harness.core.values.visible_text import abridged

IN_PIECES = "in-pieces"
"""The variant of a streamed run whose answers come in the smallest pieces."""

_PIECES = FaultSpec(kind="sse.tiny_deltas", when=1, often="forever", must_fire=False)


def writings(scenario: Scenario) -> tuple[Scenario, ...]:
    """The scenario as it is, streamed, and streamed in small pieces; alone if it has faults."""
    if scenario.faults:
        return (scenario,)
    streamed = msgspec.structs.replace(scenario, stream=True)
    variant = "-".join(filter(None, (scenario.variant, IN_PIECES)))
    pieces = msgspec.structs.replace(streamed, variant=variant, faults=(_PIECES,))
    return (scenario, pieces) if scenario.stream else (scenario, streamed, pieces)


def course_name(run: str) -> str:
    """The name of the course of a run: its name without wire, stream and pieces.

    >>> course_name("busy/two-in-pieces@openai-chat+stream"), course_name("busy/in-pieces+stream")
    ('busy/two', 'busy')
    """
    name = run.removesuffix("+stream").partition("@")[0]
    scenario, slash, variant = name.partition("/")
    variant = "" if variant == IN_PIECES else variant.removesuffix(f"-{IN_PIECES}")
    return f"{scenario}{slash}{variant}" if variant else scenario


def apart_from_wire(scenario: Scenario) -> tuple[str, str, bool, str]:
    """What two runs share that differ in their wire only. A recording is another one on each."""
    wire = scenario.wire if isinstance(scenario.script, CassetteScript) else ""
    return scenario.name, scenario.variant, scenario.stream, wire


def courses(runs: Iterable[Scenario]) -> list[tuple[Scenario, ...]]:
    """Return the runs together that differ in their wire only."""
    found: dict[tuple[str, str, bool, str], list[Scenario]] = {}
    for run in runs:
        found.setdefault(apart_from_wire(run), []).append(run)
    return [tuple(each) for each in found.values()]


class Step(msgspec.Struct, frozen=True):
    """A step of a course: what the agent did in a session, in words and as it is compared."""

    session: str
    words: str
    said: str


def steps(history: History) -> tuple[Step, ...]:
    """The tools that an agent called and the replies that it gave, session by session.

    Tools of one answer are in the order of their names and inputs, because they may run at once.
    """
    calls: dict[int, list[Step]] = {}
    for run in history.trace.executions:
        said = f"{run.request.name} {canonical(run.request.input)}"
        step = Step(run.called.session, f"calls {said}", said)
        calls.setdefault(run.ask.exchange.n if run.ask else run.n, []).append(step)
    found = [(n, sorted(some, key=lambda step: step.said)) for n, some in calls.items()]
    for sending in history.trace.sendings:
        if sending.request.kind in ENDINGS:
            told = _told(sending.request)
            said = _answer(history.trace, sending, told) or told
            step = Step(sending.called.session, f"says {told!r}", without_blanks(said))
            found.append((sending.n, [step]))
    ordered = [step for _, some in sorted(found, key=lambda each: each[0]) for step in some]
    return tuple(sorted(ordered, key=lambda step: step.session))


def _told(request: OutboxRequest) -> str:
    """What the user reads. The words of a failure may name what this wire calls it, so only its
    kind counts."""
    if request.kind == "error" or request.status not in ("", "ok", "completed", "success"):
        return f"{request.kind} {request.status}"
    return request.text


def _answer(trace: Trace, sending: Sending, told: str) -> str:
    """The answer of the model that a reply carries; "" for none.

    An agent may mark the replies that it streams, so words around an answer do not count.
    """
    turn = trace.turns.get((sending.called.session, sending.called.turn))
    answers = [e.reply.text for e in turn.main if e.reply and e.n < sending.n] if turn else []
    if not answers or not is_asked(answers[-1]) or lost_parts(answers[-1], told):
        return ""
    return answers[-1]


WRITING = "run.writing"
"""The code of a run that takes another course than the first run of its course."""


def written_otherwise(verdict: Verdict, first: str, differs: str) -> Verdict:
    """The verdict of a run that differs from the run named `first`, as `differs` tells."""
    text = f"the agent does otherwise than in {first}, where the same is written otherwise: "
    found = Finding(WRITING, text + differs, cause=Cause(subject="writing"))
    passed = tuple(name for name in verdict.passed if name != found.check)
    return msgspec.structs.replace(
        verdict, verdict="fail", findings=(*verdict.findings, found), passed=passed
    )


_SHOWN_MAX = 200
"""How many characters of a step a difference shows."""


def difference(first: Sequence[Step], other: Sequence[Step]) -> str:
    """The first step in which two courses differ, in words; "" if they are equal."""
    return next(_differences(first, other), "")


def _differences(first: Sequence[Step], other: Sequence[Step]) -> Iterator[str]:
    for one, two in zip_longest(first, other):
        if one is None or two is None or (one.session, one.said) != (two.session, two.said):
            did, does = one.words if one else "has ended", two.words if two else "has ended"
            yield f"it {abridged(does, _SHOWN_MAX)}, and there it {abridged(did, _SHOWN_MAX)}"
