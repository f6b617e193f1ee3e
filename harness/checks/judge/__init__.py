"""The checks by name, and the judge that applies them: pass, fail or unknown.

A crashed check is not a fault of the agent, so it makes the verdict unknown. So does a history
without an applicable check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import FunctionType, MappingProxyType
from typing import Any, get_type_hints

import msgspec

from harness.checks.evidence.declarations import exempt_rules, missing_seams, untold
from harness.checks.evidence.turn_outcomes import before_own_answers, expected, outcome
from harness.checks.expectations import doubts, machine_lack
from harness.checks.judge.causes import from_causes, placed
from harness.checks.judge.check_rules import CheckRule, rules_beside
from harness.checks.judge.observed_reads import ObservedHistory
from harness.checks.judge.questions import UNASKED, Questions
from harness.checks.judge.unreached import UNTESTED, is_untested, unreached, without_room
from harness.core.history.history import History
from harness.core.scenario.scenario import Expect
from harness.core.transition.ports import CheckFunction
from harness.core.values.errors import InputError
from harness.core.values.profile import Capability
from harness.core.values.verdict import (
    BOOK_KEEPING,
    FAIL_ON,
    Cause,
    Finding,
    FindingClass,
    NotApplicable,
    Verdict,
    VerdictWord,
)
from harness.parts.loading import LAST, Kind, Plugin, loaded, positional, unknown_name
from harness.parts.part import Part, Setting, docstring_of, knobs


def parts_of(plugin: Plugin) -> Mapping[str, CheckFunction]:
    """The checks of a plug-in, by name without its prefix."""
    return {
        name: function
        for name, function in plugin.functions.items()
        if positional(_undecorated(function))[:1] == ("history",)
    }


def _undecorated(check: CheckFunction) -> FunctionType:
    while (inner := getattr(check, "__wrapped__", None)) is not None:
        check = inner
    assert isinstance(check, FunctionType)
    return check


def settings_of(check: CheckFunction) -> Mapping[str, Any]:
    """The settings of a check with their defaults."""
    return _undecorated(check).__kwdefaults__ or {}


def setting_types(check: CheckFunction) -> Mapping[str, Any]:
    """The types of a check's settings; any value fits a setting whose type cannot be read."""
    inner = _undecorated(check)
    try:
        types = get_type_hints(inner, include_extras=True)
    except (NameError, TypeError):
        types = {}
    return {name: types.get(name, Any) for name in settings_of(check)}


def _described(name: str, check: CheckFunction) -> Part:
    types = setting_types(check)
    settings = {n: Setting(types[n], default) for n, default in settings_of(check).items()}
    needed = list(getattr(check, "needs", ()))
    return Part(name, docstring_of(check), settings, {"needs": needed, "knobs": knobs(settings)})


CHECKS: Kind[CheckFunction] = Kind(
    "check",
    "a check with `history`",
    parts_of,
    _described,
    folder="harness.checks",
    key=lambda name, check: (getattr(check, "place", LAST), name),
)
"""The checks in the order of their places, which orders the findings that one event proves."""

checks, own_checks = CHECKS.all, CHECKS.own


def rules_of(check: str) -> tuple[CheckRule, ...]:
    """The rules of a check, in the order of its table; none for a check without a table."""
    return _rules_of(check, loaded())


@cache
def _rules_of(name: str, _: tuple[Plugin, ...]) -> tuple[CheckRule, ...]:
    return rules_beside(checks()[name], name) if name in checks() else ()


def rules() -> Mapping[str, CheckRule]:
    """The rules of all checks by full code, in the order of the checks."""
    return _rules(loaded())


@cache
def _rules(_: tuple[Plugin, ...]) -> Mapping[str, CheckRule]:
    return MappingProxyType({row.code: row for name in checks() for row in rules_of(name)})


def rule_of(code: str) -> CheckRule:
    """The row of a rule. Raises LookupError for a rule without one."""
    row = rules().get(code) or rules().get(f"{code.rpartition('.')[0]}.*")
    if row is None:
        raise LookupError(f"the table beside the check has no row for {code}")
    return row


def check_of(code: str) -> str:
    """The check of a code: the part before its last dot, or the code itself if it names a check."""
    return code if code in checks() else code.rpartition(".")[0] or code


class _Applied(msgspec.Struct):
    """The results of the checks so far."""

    findings: list[Finding] = msgspec.field(default_factory=list)
    doubts: list[str] = msgspec.field(default_factory=list)
    not_applicable: list[NotApplicable] = msgspec.field(default_factory=list)
    passed: list[str] = msgspec.field(default_factory=list)
    asked: bool = False

    def sets_aside(self, code: str) -> bool:
        """Whether a rule does not apply."""
        return any(lack.check == code for lack in self.not_applicable)


def judge(
    history: History,
    *,
    only: str | None = None,
    extra: Sequence[CheckFunction] = (),
    fail_on: FindingClass | None = None,
) -> Verdict:
    """Return the verdict over a history, by all checks, or by the check named `only`.

    `extra` holds checks of the caller, `(history, **settings) -> findings`. Settings come from the
    scenario, by the name of the check. Findings of the class `fail_on` and worse fail the run. The
    default is the class in the history, else "weakness". Raises InputError when `only` names no
    check.
    """
    known = {**checks(), **{check.__name__: check for check in extra}}
    if only is not None and only not in known:
        raise InputError(f"there is no check {only!r}; {unknown_name(only, known)}", "--check")
    chosen = known if only is None else {only: known[only]}
    wanted = _expectation(history)
    if (early := _verdict_without_checks(history)) is not None:
        return early
    applied = _Applied(doubts=list(doubts(history.trace)))
    missing = _missing(history, wanted, chosen)
    applied.not_applicable += [*exempt_rules(history, wanted, chosen), *missing]
    _apply_all(history, chosen, applied)
    is_vain = bool(missing) and is_untested(history, missing, wanted.must, applied.not_applicable)
    if not (applied.asked or only):  # the verdict says why the one check of a user does not apply
        applied.doubts.append("no check applied")
    told = _told_lacks(applied, missing if is_vain else None)
    applied.doubts += _unmet(history, wanted, told, known, set(chosen)) if wanted.must else ()
    applied.doubts += _unknown_settings(history, known)
    standing, declared = _known_apart(wanted, applied, set(chosen))
    line = fail_on or _fail_on(history, wanted)
    word = _word(any(finding.fails(line) for finding in standing), applied.doubts)
    if word == "pass" and (reason := UNTESTED if is_vain else _why_not_asked(only, applied)):
        word = "not_applicable"
        applied.not_applicable.insert(0, NotApplicable("run", reason))
    return Verdict(
        word,
        outcome=outcome(history),
        findings=from_causes(standing, history) if standing else (),
        known=declared,
        doubts=tuple(applied.doubts),
        not_applicable=tuple(applied.not_applicable),
        passed=tuple(applied.passed),
        fail_on=line,
    )


def _verdict_without_checks(history: History) -> Verdict | None:
    """The verdict over a run in which nothing that happened is the agent's; None for others."""
    if lack := machine_lack(history.trace):
        return Verdict("unknown", outcome=outcome(history), doubts=(lack,))
    if reason := without_room(history):
        lacks = (NotApplicable("run", reason),)
        return Verdict("not_applicable", outcome=outcome(history), not_applicable=lacks)
    return None


def _missing(
    history: History, wanted: Expect, chosen: Collection[str]
) -> tuple[NotApplicable, ...]:
    """The parts of an open script that the run did not reach."""
    is_open = history.trace.is_open and "run" in chosen
    return tuple(unreached(history, wanted.must)) if is_open else ()


def _told_lacks(
    applied: _Applied, unreached: Collection[NotApplicable] | None
) -> list[NotApplicable]:
    """What did not apply; of a run that reached nothing (`unreached`) without what it did not
    ask."""
    if unreached is None:
        return applied.not_applicable
    return [n for n in applied.not_applicable if n.kind != "unasked" and n not in unreached]


def _fail_on(history: History, wanted: Expect) -> FindingClass:
    """The class from which findings fail a run: the scenario's, else that of the agent's
    profile."""
    try:
        return wanted.fail_on or history.trace.profile.fail_on or FAIL_ON
    except msgspec.ValidationError:
        return FAIL_ON


def _word(fails: bool, doubts: Sequence[str]) -> VerdictWord:
    return "fail" if fails else "unknown" if doubts else "pass"


def _why_not_asked(only: str | None, applied: _Applied) -> str:
    """Why the only check was not asked; "" if it was, or if all checks were wanted."""
    reasons = {n.check: n.reason for n in applied.not_applicable}
    return f"{only}: {reasons[only]}" if only in reasons else ""


def _apply_all(history: History, chosen: Mapping[str, CheckFunction], applied: _Applied) -> None:
    agents_part = before_own_answers(history)
    questions = Questions(agents_part.trace)
    for name, check in chosen.items():
        # A check without seams is about the run: it sees the limit, and how the target ended.
        asked = agents_part if getattr(check, "needs", ()) else history
        _apply(asked, name, check, questions, applied)
    if applied.findings:
        applied.findings = placed(applied.findings, history)


def _apply(
    history: History, name: str, check: CheckFunction, questions: Questions, applied: _Applied
) -> None:
    needed, trace = getattr(check, "needs", ()), history.trace
    missing = missing_seams(check, trace) if needed else ()
    reason = f"needs the seam {' and '.join(missing)}" if missing else untold(check, trace)
    if reason:
        applied.not_applicable.append(NotApplicable(name, reason))
        return
    rules, is_of_the_run = rules_of(name), name in BOOK_KEEPING
    seen = history if rules or is_of_the_run else ObservedHistory(history)
    try:
        settings = (trace.settings.get("checks") or {}).get(name) or {}
        said = _with_prefix(name, check(seen, **settings))
        found = [
            _classed(history, name, check, finding)
            for finding in said
            if not applied.sets_aside(finding.code)
        ]
    except Exception as error:
        applied.doubts.append(f"the check {name} crashed: {type(error).__name__}: {error}")
        return
    applied.asked = applied.asked or not is_of_the_run
    applied.findings += found
    if isinstance(seen, ObservedHistory):
        reason = "" if found else seen.reads.reason(declares_seams=bool(needed))
        unasked = [NotApplicable(name, f"{UNASKED}{reason}", kind="unasked")] if reason else []
    else:
        unasked = questions.not_asked(name, rules, found)
    by_writes = (f"{name}.{rule}" for rule in getattr(check, "write_order", ()))
    lacks_a_part = any(map(applied.sets_aside, by_writes)) or any(n.check == name for n in unasked)
    applied.not_applicable += unasked
    if not (found or lacks_a_part):
        applied.passed.append(name)


def _with_prefix(name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a check with full codes; a plug-in may leave out its prefix."""
    prefix = name.rpartition(".")[0]
    for finding in findings:
        if prefix and not finding.code.startswith(f"{prefix}."):
            finding = msgspec.structs.replace(finding, code=f"{prefix}.{finding.code}")
        yield finding


def _classed(history: History, name: str, check: CheckFunction, finding: Finding) -> Finding:
    """A finding with its class: from the table of its check, else its own, else "defect"."""
    if name in BOOK_KEEPING:
        return finding
    advised = getattr(check, "advised", ()) if history.trace.world == "recording" else ()
    known = rule_of(finding.code).class_ if rules_of(name) else finding.class_ or "defect"
    is_advice = finding.code.rpartition(".")[2] in advised
    return msgspec.structs.replace(finding, class_="advice" if is_advice else known)


def _expectation(history: History) -> Expect:
    """The expectation; the default one if it is unreadable, which `expect` reports."""
    try:
        return expected(history)
    except msgspec.ValidationError:
        return Expect()


def _unknown_settings(history: History, known: dict[str, CheckFunction]) -> Iterator[str]:
    for name in history.trace.settings.get("checks") or {}:
        if name not in known:
            yield f"checks: there is no check {name!r}; {unknown_name(name, known)}"


def _known_apart(
    wanted: Expect, applied: _Applied, chosen: set[str]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings that fail, and those that the scenario declares as known."""
    declared = tuple(f for f in applied.findings if f.code in wanted.known)
    failing = [f for f in applied.findings if f.code not in wanted.known]
    seen = {finding.code for finding in declared}
    unasked = {n.check for n in applied.not_applicable}
    for code in wanted.known:
        if code not in seen | unasked and check_of(code) in chosen - unasked:
            text = f"the known defect {code} no longer appears: take it out of expect.known"
            failing.append(Finding("expect.known_missing", text, cause=Cause(subject=code)))
    return tuple(failing), declared


def _unmet(
    history: History,
    wanted: Expect,
    lacks: Iterable[NotApplicable],
    known: Collection[str],
    chosen: Collection[str],
) -> Iterator[str]:
    """Yield a reason for each check that the scenario names and that was not asked.

    If the agent's profile says that it has no store, checks of the store cause no doubt. Nor do
    those of summaries if it says that it writes none. Nor does a check that is not asked under an
    overlay: its faults may keep the plan's own events away. In a run that a limit has cut there is
    no doubt either: a baseline that accepts the limit passes.
    """
    is_cut = any(turn.limits for turn in history.trace.turns.values())
    is_cut = is_cut or bool(history.trace.settings.get("overlaid"))
    reasons = {
        n.check: f"is {n.reason}" if n.kind == "unasked" else n.reason
        for n in lacks
        if not (is_cut and n.kind == "unasked")
    }
    if _declares_no(history, "store", "own_store"):
        reasons = {c: r for c, r in reasons.items() if r != _NO_STORE}
    if _declares_no(history, "compaction"):
        reasons = {c: r for c, r in reasons.items() if not c.startswith(_OF_SUMMARIES)}
    for name in wanted.must:
        if name not in known:
            yield f"expect.must: there is no check {name!r}; {unknown_name(name, known)}"
        elif name in reasons and name in chosen:
            yield f"the scenario asks for {name}, which {reasons[name]}"


_NO_STORE = "needs the seam store"


_OF_SUMMARIES = ("compaction_", "summary_")


def _declares_no(history: History, first: Capability, *others: Capability) -> bool:
    """Whether the profile declares the first capability absent, and the others not present."""
    try:
        profile = history.trace.profile
    except msgspec.ValidationError:
        return False
    return profile.declares(first) is False and not any(map(profile.declares, others))
