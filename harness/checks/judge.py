"""The judge: applies every check that can be asked, and says pass, fail or unknown.

A check is a public function of this room that names the seams it needs. A check that crashes makes
the verdict unknown, for that is never the agent's fault; so does a history to which no check of an
agent applies. Findings that the scenario knows are set apart, and missed when they stay away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any

import msgspec

from harness.checks import (
    budgets,
    compactions,
    delivery,
    durability,
    execution,
    expectation,
    form,
    healing,
    loops,
    memory,
    outcome,
    overlaid,
    persistence,
    progress,
    recorded,
    request,
    resume,
    retries,
    run,
    sizes,
    streams,
    tool_calls,
    turns,
    visibility,
    waiting,
)
from harness.core.history.history import History
from harness.core.scenario.scenario import Expect
from harness.core.transition.ports import CheckFunction
from harness.checks.evidence.outcomes import expected
from harness.checks.evidence.outcomes import outcome as outcome_of
from harness.core.values.errors import InputError, nearest
from harness.core.values.verdict import Finding, NotApplicable, Verdict, VerdictWord

MODULES: tuple[ModuleType, ...] = (
    run,
    request,
    tool_calls,
    form,
    memory,
    progress,
    sizes,
    retries,
    loops,
    compactions,
    budgets,
    waiting,
    execution,
    visibility,
    streams,
    persistence,
    durability,
    resume,
    delivery,
    turns,
    outcome,
    healing,
    expectation,
)
"""The modules that hold checks, in the order in which they are applied: how the run itself went
comes first, for much else may follow from it."""


def checks() -> Mapping[str, CheckFunction]:
    """The checks by name."""
    return _CHECKS


def _found() -> dict[str, CheckFunction]:
    return {
        name: function
        for module in MODULES
        for name, function in vars(module).items()
        if hasattr(function, "needs") and function.__module__ == module.__name__
    }


_CHECKS: Mapping[str, CheckFunction] = MappingProxyType(_found())


def names() -> dict[str, str]:
    """What `harness list checks` shows: each check's name and what it asks."""
    return {name: _docstring(check).partition("\n")[0] for name, check in checks().items()}


def explain(code: str) -> str:
    """What a check asks, its rules and its source; `code` is a check or `check.rule`.

    Raises InputError for a name that no check has.
    """
    found = checks()
    name = code.partition(".")[0]
    if name not in found:
        raise InputError(f"there is no check {name!r}; {nearest(name, found)}", code)
    return _docstring(found[name])


def _docstring(check: CheckFunction) -> str:
    lines = (check.__doc__ or "").strip().splitlines()
    return "\n".join(line.strip() for line in lines)


class _Applied(msgspec.Struct):
    """What came of the checks so far."""

    findings: list[Finding] = msgspec.field(default_factory=list)
    doubts: list[str] = msgspec.field(default_factory=list)
    not_applicable: list[NotApplicable] = msgspec.field(default_factory=list)
    passed: list[str] = msgspec.field(default_factory=list)
    asked: bool = False


def judge(
    history: History, *, only: str | None = None, extra: Sequence[CheckFunction] = ()
) -> Verdict:
    """The verdict over a history, by all checks, or by the one named `only`.

    `extra` are checks of the caller's own, `(history, **settings) -> findings`. Settings come from
    the scenario, by the name of the check. Raises InputError when `only` names no check.
    """
    known = {**checks(), **{check.__name__: check for check in extra}}
    if only is not None and only not in known:
        raise InputError(f"there is no check {only!r}; {nearest(only, known)}", "--check")
    chosen = {name: check for name, check in known.items() if only in (None, name)}
    wanted = _expectation(history)
    applied = _Applied(doubts=list(run.doubts(history)))
    applied.not_applicable += [
        n for n in overlaid.set_aside(history, wanted) if n.check.partition(".")[0] in chosen
    ]
    for name, check in chosen.items():
        _apply(history, name, check, applied)
    if not applied.asked:
        applied.doubts.append("no check applied")
    applied.doubts += _asked_in_vain(wanted, applied, known, set(chosen))
    applied.doubts += _unknown_settings(history, known)
    findings, declared = _known_apart(wanted, applied, set(chosen))
    return Verdict(
        _word(findings, applied.doubts),
        outcome=outcome_of(history),
        findings=findings,
        known=declared,
        doubts=tuple(applied.doubts),
        not_applicable=tuple(applied.not_applicable),
        passed=tuple(applied.passed),
    )


def _word(findings: Sequence[Finding], doubts: Sequence[str]) -> VerdictWord:
    if findings:
        return "fail"
    return "unknown" if doubts else "pass"


def _apply(history: History, name: str, check: CheckFunction, applied: _Applied) -> None:
    needed = getattr(check, "needs", ())
    seams = history.trace.seams if needed else ()
    missing = [seam for seam in needed if seam not in seams]
    if missing:
        reason = f"needs the seam {' and '.join(missing)}"
        applied.not_applicable.append(NotApplicable(name, reason))
        return
    if name in checks() and (reason := recorded.untold(history.trace, name)):
        applied.not_applicable.append(NotApplicable(name, reason))
        return
    aside = {n.check for n in applied.not_applicable}
    try:
        found = [f for f in check(history, **_settings(history, name)) if f.code not in aside]
    except Exception as error:
        applied.doubts.append(f"the check {name} crashed: {type(error).__name__}: {error}")
        return
    applied.asked = applied.asked or bool(needed) or name not in checks()
    applied.findings += found
    if not found:
        applied.passed.append(name)


def _settings(history: History, name: str) -> dict[str, Any]:
    settings: dict[str, Any] = (history.trace.settings.get("checks") or {}).get(name) or {}
    return settings


def _expectation(history: History) -> Expect:
    """The expectation; the default one when it cannot be read, of which `expect` tells."""
    try:
        return expected(history)
    except msgspec.ValidationError:
        return Expect()


def _asked_in_vain(
    wanted: Expect, applied: _Applied, known: dict[str, CheckFunction], chosen: set[str]
) -> Iterator[str]:
    """The checks that the scenario asks for by name and that could not be asked."""
    reasons = {n.check: n.reason for n in applied.not_applicable}
    for name in wanted.must:
        if name not in known:
            yield f"expect.must: there is no check {name!r}; {nearest(name, known)}"
        elif name in reasons and name in chosen:
            yield f"the scenario asks for {name}, which {reasons[name]}"


def _unknown_settings(history: History, known: dict[str, CheckFunction]) -> Iterator[str]:
    for name in history.trace.settings.get("checks") or {}:
        if name not in known:
            yield f"checks: there is no check {name!r}; {nearest(name, known)}"


def _known_apart(
    wanted: Expect, applied: _Applied, chosen: set[str]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings that fail, and those that the scenario declares as known."""
    declared = tuple(f for f in applied.findings if f.code in wanted.known)
    failing = [f for f in applied.findings if f.code not in wanted.known]
    seen = {finding.code for finding in declared}
    unasked = {n.check for n in applied.not_applicable}
    asked = chosen - unasked
    for code in wanted.known:
        if code not in seen | unasked and code.partition(".")[0] in asked:
            text = f"the known defect {code} no longer appears: take it out of expect.known"
            failing.append(Finding("expect.known_missing", text))
    return tuple(failing), declared
