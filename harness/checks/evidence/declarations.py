"""What a check declares: its needs, the agent's excuses, and what an overlay changes.

    @needs("inbox", "outbox", told_by="run")
    @excused_by(missing=(CANCEL, KILL, LIMIT))
    def outbound_once(history: History) -> Iterator[Finding | Case]: ...

The decorators also apply what they declare, so a check gives the same result without the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, TypeAlias, TypeVar

from harness.checks.evidence.excuses import Case, Excuse, Marks, is_excused
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.scenario.scenario import Expect, ExpectCalls
from harness.core.transition.ports import CheckFunction
from harness.core.values.calls import Seam
from harness.core.values.verdict import Finding, NotApplicable
from harness.parts.loading import LAST

_P = ParamSpec("_P")
Source: TypeAlias = Literal["messages", "requests", "rules", "run"]
"""The evidence that a check needs: any list of messages, requests as they were sent, requests
checked against a provider's rules, or a run."""

_F = TypeVar("_F", bound=CheckFunction)
_Check: TypeAlias = Callable[Concatenate[History, _P], Iterator[Finding]]
_Cases: TypeAlias = Callable[Concatenate[History, _P], Iterator[Finding | Case]]


def needs(
    *seams: Seam, told_by: Source = "messages", or_calls: bool = False, place: int = LAST
) -> Callable[[_Check[_P]], _Check[_P]]:
    """Declare the seams that a check needs, and the kinds of history that it applies to.

    A recording holds messages. It does not hold the time of an event, the retries, or who stopped
    the agent. With `told_by="run"` a check applies to runs only. With `"requests"` it also applies
    to recordings that keep the requests as they were sent. With `"rules"` it also applies to
    recordings that are read with the rules of a dialect. With `or_calls` the calls in the model's
    answers replace the seam `tool`, because the agent's own tools show nothing else. Findings of
    one class that one event proves are reported by the `place` of their checks, the smallest first.
    """

    def declare(check: _Check[_P]) -> _Check[_P]:
        @wraps(check)
        def asked(history: History, /, *args: _P.args, **settings: _P.kwargs) -> Iterator[Finding]:
            if not untold(asked, history.trace):
                yield from check(history, *args, **settings)

        asked.__dict__.update(needs=seams, told_by=told_by, or_calls=or_calls, place=place)
        return asked

    return declare


def missing_seams(check: CheckFunction, trace: Trace) -> list[Seam]:
    """The seams that a check needs and the target does not have."""
    needed: tuple[Seam, ...] = getattr(check, "needs", ())
    known = trace.seams
    missing = [seam for seam in needed if seam not in known]
    by_calls = "tool" in missing and getattr(check, "or_calls", False)
    if by_calls and any(turn.asks for turn in trace.turns.values()):
        missing.remove("tool")
    return missing


def untold(check: CheckFunction, trace: Trace) -> str:
    """Why a check does not apply to a recording; "" if it applies, or if the history is a run."""
    source: Source = getattr(check, "told_by", "messages")
    if getattr(check, "by_results", None) == () and is_half_read(trace):
        return RESULTS_UNREAD
    if trace.world != "recording" or source == "messages":
        return ""
    if source == "run":
        return "a recording does not tell"
    if source == "rules":
        return "" if trace.settings.get("dialect") else "needs the rules of a dialect"
    return "needs recorded requests" if any(start.inferred for start in trace.starts) else ""


def excused_by(**rules: tuple[Excuse, ...]) -> Callable[[_Cases[_P]], _Check[_P]]:
    """Declare the excuses of each rule, and leave out the findings of excused cases.

    A check yields a `Case` for findings that may be excused; its `rule` is one of the names here. A
    finding outside a case has no excuse.
    """

    def declare(check: _Cases[_P]) -> _Check[_P]:
        @wraps(check)
        def filtered(
            history: History, /, *args: _P.args, **settings: _P.kwargs
        ) -> Iterator[Finding]:
            marks = Marks(history.trace)
            for found in check(history, *args, **settings):
                if isinstance(found, Finding):
                    yield found
                elif not is_excused(marks, found, rules[found.rule]):
                    yield from found.findings

        filtered.__dict__["excuses"] = rules
        return filtered

    return declare


def counted_anew(*events: str) -> Callable[[_F], _F]:
    """Declare the events after which a check starts its count again.

    Counts cannot be filtered afterwards, so the check applies these events itself, by functions of
    `evidence.excuses`.
    """

    return _noted("counted_anew", events)


def _noted(name: str, value: object) -> Callable[[_F], _F]:
    """A decorator that notes a declaration, and changes nothing."""

    def declare(check: _F) -> _F:
        check.__dict__[name] = value
        return check

    return declare


def _left_out(
    name: str, rules: tuple[str, ...], is_so: Callable[[Trace], bool]
) -> Callable[[_Check[_P]], _Check[_P]]:
    """A decorator that notes a declaration, and leaves out the findings of these rules (all if
    there are none) where `is_so`."""

    def declare(check: _Check[_P]) -> _Check[_P]:
        @wraps(check)
        def asked(history: History, /, *args: _P.args, **settings: _P.kwargs) -> Iterator[Finding]:
            aside = is_so(history.trace)
            for finding in check(history, *args, **settings) if rules or not aside else ():
                if not aside or finding.code.rpartition(".")[2] not in rules:
                    yield finding

        asked.__dict__[name] = rules
        return asked

    return declare


WRITE_ORDER = "the order of the writes is unknown in a store of the agent's own"
"""Why rules about the moment of a write do not apply to a store that the harness only reads."""


def asks_write_order(*rules: str) -> Callable[[_Check[_P]], _Check[_P]]:
    """Declare the rules that compare the moment of a write with other events.

    They do not apply to an agent's own store, because the harness does not see its writes.
    """

    return _left_out("write_order", rules, lambda trace: trace.own_store)


NO_IDS = "the log keeps no ids of calls"
"""Why rules about ids do not apply to a log in which no call has an id."""


def keeps_no_ids(trace: Trace) -> bool:
    """Whether the trace is a log whose calls have no ids, as in some formats."""
    if trace.world != "recording" or not all(start.inferred for start in trace.starts):
        return False
    ids = [ask.use.id for ask in trace.asks]
    return bool(ids) and not any(ids)


def asks_ids(*rules: str) -> Callable[[_Check[_P]], _Check[_P]]:
    """Declare the rules that do not apply to a log without ids."""
    return _left_out("by_ids", rules, keeps_no_ids)


def advice_in_recordings(*rules: str) -> Callable[[_F], _F]:
    """Declare the rules whose findings in a recording are advice: other things look alike there."""
    return _noted("advised", rules)


RESULTS_UNREAD = "results are not understood in this recording"
"""Why checks that rest on results do not apply to a recording that was read by half."""


def is_half_read(trace: Trace) -> bool:
    """Whether the reader of a recording met what it does not understand, or lost a part of it."""
    return any(start.unread for start in trace.starts)


def asks_results(*rules: str) -> Callable[[_Check[_P]], _Check[_P]]:
    """Declare the rules that rest on the results of calls, or on who says what; none for all rules
    of the check. They do not apply to a recording that was read by half."""
    return _left_out("by_results", rules, is_half_read)


OVERLAY_COUNTS = "an overlay changes how many calls there are"
"""Why an overlay sets aside a rule that counts by the scenario's plan."""


def set_aside_by_overlay(**rules: str) -> Callable[[_F], _F]:
    """Declare the rules that do not apply under an overlay of faults, each with its reason.

    A scenario counts the calls of a correct agent under the scenario's faults. Under other faults
    the agent calls more often and waits more, and a turn meant for the third call meets another
    call.
    """
    return _noted("set_aside", rules)


_SOURCES: dict[Source, str] = {
    "run": "Asked of runs, not of recordings.",
    "requests": "Asked of runs, and of recordings that keep the requests.",
    "rules": "Asked of runs, and of recordings that are read with the rules of a dialect.",
}

_LIMITED = {
    "write_order": "Not asked of a store of the agent's own",
    "by_ids": "Not asked of a log that keeps no ids of calls",
    "advised": "Advice in a recording",
    "by_results": "Not asked of a recording whose results are not understood",
    "set_aside": "Set aside under an overlay",
}
"""The sentences of the declarations that name rules; one without a name is about all rules."""


def declared(check: CheckFunction) -> Iterator[str]:
    """Yield the declarations of a check, one sentence each: its seams, sources, excuses, counts."""
    if seams := getattr(check, "needs", ()):
        yield f"Needs these seams: {', '.join(seams)}."
    source: Source = getattr(check, "told_by", "messages")
    if source != "messages":
        yield _SOURCES[source]
    if getattr(check, "or_calls", False):
        yield "Asked of tools of the agent's own too, as far as the requests show them."
    excuses: dict[str, tuple[Excuse, ...]] = getattr(check, "excuses", {})
    for rule, found in excuses.items():
        words = "; ".join(excuse.words for excuse in found)
        yield f"Excused ({rule.replace('_', ' ')}): {words}."
    if events := getattr(check, "counted_anew", ()):
        yield f"Counts start again after {' or '.join(events)}."
    for name, said in _LIMITED.items():
        if (rules := getattr(check, name, None)) is not None:
            names = ", ".join(f"`{rule}`" for rule in rules)
            yield f"{said}: {names}." if names else f"{said}."


def exempt_rules(
    history: History, wanted: Expect, chosen: Mapping[str, CheckFunction]
) -> Iterator[NotApplicable]:
    """The rules that an overlay, the agent's own store or a recording sets aside. Rules of `expect`
    count only if the scenario sets them."""
    aside = {"write_order": WRITE_ORDER} if history.trace.own_store else {}
    aside |= {"by_ids": NO_IDS} if keeps_no_ids(history.trace) else {}
    aside |= {"by_results": RESULTS_UNREAD} if is_half_read(history.trace) else {}
    for declaration, reason in aside.items():
        for name, check in chosen.items():
            for rule in getattr(check, declaration, ()):
                yield NotApplicable(f"{name}.{rule}", reason)
    if wanted.reply != () and "outbox" not in history.trace.seams:
        # A log of a chat holds what the model answered, and not what the user was shown.
        yield NotApplicable("expect.reply", "needs the seam outbox")
    if not history.trace.settings.get("overlaid"):
        return
    has = {
        "expect.outcome": wanted.outcome is not None,
        "expect.calls": wanted.calls != ExpectCalls(),
        "expect.inputs": bool(wanted.inputs),
        "expect.waits": wanted.waits_s is not None,
        "expect.reply": wanted.reply != (),
    }
    for code, reason in overlay_reasons(chosen).items():
        if has.get(code, True):
            yield NotApplicable(code, reason)


def overlay_reasons(known: Mapping[str, CheckFunction]) -> dict[str, str]:
    """The reason for which an overlay sets a rule aside, by code."""
    return {
        f"{name}.{rule}": reason
        for name, check in known.items()
        for rule, reason in getattr(check, "set_aside", {}).items()
    }
