"""The checks of failures find what their slow twins find, on prefixes too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from harness.checks.durability import no_silent_loss
from harness.checks.recovery import resume_bounded, session_heals
from harness.checks.truthfulness import error_visible, stream_error_handled
from harness.core.history.history import History
from harness.core.values.messages import assistant, user
from harness.core.values.plans import Kill, Raise
from harness.core.values.verdict import Finding
from tests.checks import twins_faults as twins
from tests.checks import twins_recovery, twins_streams
from tests.checks.failing_worlds import SENT, FailingWorld
from tests.checks.histories import use

FORBIDDEN = "is paid"
WHOLE = "\u306f\u3044, it is paid now."
PART = "\u306f\u3044, it"
PLAIN = "It is paid."
ROWS = (assistant(PLAIN), assistant(PART))
FAULTY = {"faults": ("http.status",)}


def _run(world: FailingWorld, **answer: Any) -> None:
    """Run what was asked for last, asking for it first if nothing is to be run."""
    if not world._asked:
        world.reply(PART, use("write", {"path": "a"}))
    if answer.pop("twice", False):
        asked = world._asked[0]
        world.tool("first", error=True)
        world._results.pop()
        world.again(asked)
    told = answer.pop("told", None)
    world.tool("4711", **answer)
    if told is not None:
        world.result(told, flagged=False)


def _again(world: FailingWorld) -> None:
    asks = world.history.trace.asks
    if asks:
        world.again(asks[-1].use).tool("4711")


def _effect(world: FailingWorld, key: str) -> None:
    if world.history.trace.executions:
        world.effect(key)


STEPS: dict[str, Callable[[FailingWorld], object]] = {
    "reply": lambda w: w.reply(PLAIN),
    "reply with characters": lambda w: w.reply(WHOLE),
    "declined": lambda w: w.reply("No.", stop="refusal"),
    "breaks": lambda w: w.breaks(WHOLE),
    "breaks in a call": lambda w: w.breaks(PART, use("list")),
    "breaks by a kill": lambda w: w.breaks(WHOLE, steps=(*SENT[:1], Kill())),
    "nothing comes": lambda w: w.breaks(WHOLE, steps=(Raise("timeout"),)),
    "529": lambda w: w.fail(529, **FAULTY),  # type: ignore[arg-type]
    "refused": lambda w: w.fail(400, "V4", refused=("V4",)),
    "over the window": lambda w: w.fail(400, "V23", refused=("V23",)),
    "exhausted": lambda w: w.fail(400, "script.exhausted"),
    "tool": _run,
    "tool fails": lambda w: _run(w, error=True),
    "tool fails, told": lambda w: _run(w, error=True, told="it failed"),
    "tool fails, handed on": lambda w: _run(w, error=True, told="said 4711"),
    "tool fails, hidden": lambda w: _run(w, error=True, told="fine"),
    "tool twice": lambda w: _run(w, twice=True),
    "tool again": _again,
    "effect": lambda w: _effect(w, ""),
    "keyed effect": lambda w: _effect(w, "k"),
    "part stored": lambda w: w.row(assistant(PART)),
    "mark stored": lambda w: w.row(user("[broken off]")),
    "row stored": lambda w: w.row(ROWS[0]),
    "refused write": lambda w: w.write(ROWS[0]),
    "refused writes": lambda w: w.write(*ROWS),
    "refused mark": lambda w: w.write(),
    "write": lambda w: w.write(ROWS[0], fails=False),
    "final": lambda w: w.say(PLAIN),
    "part": lambda w: w.say(PART),
    "garbled": lambda w: w.say("\ufffd"),
    "failed": lambda w: w.say("Not done.", "error", "failed"),
    "refuses": lambda w: w.say(PART, "final", "failed"),
    "notice": lambda w: w.say("Careful.", "notice"),
    "not taken": lambda w: w.say("Careful.", "notice", taken=False),
    "shown": lambda w: w.say(PART, "partial"),
    "cancel": lambda w: w.cancel(),
    "restart": lambda w: w.restart(),
    "next": lambda w: w.turn("And?"),
    "blank": lambda w: w.turn(" "),
    "the same": lambda w: w.turn("Go.", "m1"),
}
TOLD = st.lists(st.sampled_from(list(STEPS)), max_size=14)
TURNS = st.lists(
    st.lists(st.sampled_from(["reply", "breaks", "529", "refused", "final", "failed", "restart"]),
             max_size=3),
    max_size=5,
).map(lambda turns: [step for turn in turns for step in ("next", *turn)])  # fmt: skip
BROKEN = st.lists(
    st.sampled_from(["breaks", "part stored", "mark stored", "reply", "part", "final", "next"]),
    max_size=8,
)
KILLED = st.lists(
    st.sampled_from(["reply", "breaks by a kill", "restart", "tool", "tool again", "effect",
                     "keyed effect", "the same", "notice", "next"]),
    max_size=12,
)  # fmt: skip
ENDS = st.sampled_from(["returned", "crashed", "killed"])
STORES = st.booleans()


def _played(steps: list[str], how: str, stores: bool, seeded: bool = False) -> History:
    world = FailingWorld(stores=stores, settings={"expect": {"must_not": {"say": [FORBIDDEN]}}})
    if seeded:
        world.row(user("Hello."))
    world.turn("Go.")
    for step in steps:
        STEPS[step](world)
    return world.end(how)


def _last(found: Iterable[Finding]) -> twins.Wrong:
    return {(finding.code, finding.events[-1]) for finding in found}


def _first(found: Iterable[Finding], *rules: str) -> twins.Wrong:
    """Findings of these rules by their first event, the others by their last."""
    return {(f.code, f.events[0] if f.code.endswith(rules) else f.events[-1]) for f in found}


@given(TOLD, ENDS, STORES)
@example(["tool fails, told", "tool fails, told", "tool again", "reply"], "returned", False)
def test_failures_of_tools(steps: list[str], how: str, stores: bool) -> None:
    history = _played(steps, how, stores)
    assert _last(error_visible(history)) == twins.error_visible(history, FORBIDDEN)


@given(TOLD | BROKEN, ENDS, STORES)
@example(["breaks in a call", "tool", "reply"], "returned", True)
def test_answers_that_break_off(steps: list[str], how: str, stores: bool) -> None:
    history = _played(steps, how, stores)
    assert _last(stream_error_handled(history)) == twins_streams.stream_error_handled(history)


@given(TOLD, ENDS, STORES, st.integers(1, 3))
def test_writes_that_fail(steps: list[str], how: str, stores: bool, attempts: int) -> None:
    history = _played(steps, how, stores)
    found = _first(no_silent_loss(history, attempts=attempts), "lost")
    assert found == twins.no_silent_loss(history, attempts)


@given(TOLD | KILLED, ENDS, st.integers(0, 2))
def test_turns_after_a_kill(steps: list[str], how: str, resumes: int) -> None:
    history = _played(steps, how, stores=True)
    found = list(resume_bounded(history, resumes=resumes))
    executed = [f for f in found if f.code.endswith("executed")]
    others = {(f.code, _asked_first(history, f)) for f in found if f not in executed}
    assert _last(executed) | others == twins_recovery.resume_bounded(history, resumes)


def _asked_first(history: History, finding: Finding) -> int:
    """The first request for the message that a finding names."""
    name = finding.message.split()[2]
    turns = [t for t in history.trace.turns.values() if t.delivery]
    own = [t for t in turns if t.delivery and t.delivery.inbound.id == name]
    return min(e.n for t in own for e in t.main)


@given(TOLD | TURNS, ENDS, st.booleans(), st.integers(1, 3))
def test_sessions_after_a_fault(steps: list[str], how: str, seeded: bool, messages: int) -> None:
    history = _played(steps, how, stores=False, seeded=seeded)
    found = _last(session_heals(history, messages=messages))
    assert found == twins_recovery.session_heals(history, messages)


@given(TOLD | TURNS | BROKEN | KILLED, ENDS, STORES, st.floats(0, 1))
def test_what_a_prefix_shows_the_whole_shows_too(
    steps: list[str], how: str, stores: bool, part: float
) -> None:
    whole = _played(steps, how, stores)
    prefix = History()
    for event in whole.events[: round(part * len(whole.events))]:
        prefix.take(event)
    for check in CHECKS:
        assert set(check(prefix)) <= set(check(whole))


CHECKS: tuple[Callable[[History], Iterable[Finding]], ...] = (
    error_visible,
    stream_error_handled,
    no_silent_loss,
    resume_bounded,
    session_heals,
)
