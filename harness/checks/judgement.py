"""The judge: applies every check that can be asked, and says pass, fail or unknown.

A check that crashes makes the verdict unknown, for that is never the agent's fault; so does a
history to which no check of an agent applies. Findings that the scenario knows are set apart, and
missed when they stay away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.checks.check_registry import check_of, checks, own_checks
from harness.checks.declarations import untold
from harness.checks.evidence.outcomes import expected, outcome
from harness.checks.run_integrity import doubts
from harness.core.history.history import History
from harness.core.scenario.scenario import Expect, ExpectCalls
from harness.core.transition.ports import CheckFunction
from harness.core.values.errors import InputError
from harness.core.values.loaded_plugins import unknown_name
from harness.core.values.verdict import Finding, NotApplicable, Verdict, VerdictWord


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
        raise InputError(f"there is no check {only!r}; {unknown_name(only, known)}", "--check")
    chosen = {name: check for name, check in known.items() if only in (None, name)}
    wanted = _expectation(history)
    applied = _Applied(doubts=list(doubts(history.trace)))
    applied.not_applicable += _set_aside(history, wanted, chosen)
    for name, check in chosen.items():
        _apply(history, name, check, applied)
    if not applied.asked:
        applied.doubts.append("no check applied")
    applied.doubts += _asked_in_vain(wanted, applied, known, set(chosen))
    applied.doubts += _unknown_settings(history, known)
    findings, declared = _known_apart(wanted, applied, set(chosen))
    return Verdict(
        _word(findings, applied.doubts),
        outcome=outcome(history),
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


def _set_aside(
    history: History, wanted: Expect, chosen: Mapping[str, CheckFunction]
) -> Iterator[NotApplicable]:
    """The rules that an overlay sets aside; of expectations, those that the scenario has."""
    if not history.trace.settings.get("overlaid"):
        return
    has = {
        "expect.outcome": wanted.outcome is not None,
        "expect.calls": wanted.calls != ExpectCalls(),
        "expect.inputs": bool(wanted.inputs),
        "expect.waits": wanted.waits_s is not None,
    }
    for code, reason in overlay_reasons(chosen).items():
        if has.get(code, True):
            yield NotApplicable(code, reason)


def overlay_reasons(known: Mapping[str, CheckFunction]) -> dict[str, str]:
    """Why an overlay sets rules aside, by code."""
    return {
        f"{name}.{rule}": reason
        for name, check in known.items()
        for rule, reason in getattr(check, "set_aside", {}).items()
    }


def _apply(history: History, name: str, check: CheckFunction, applied: _Applied) -> None:
    needed = getattr(check, "needs", ())
    seams = history.trace.seams if needed else ()
    missing = [seam for seam in needed if seam not in seams]
    reason = f"needs the seam {' and '.join(missing)}" if missing else untold(check, history.trace)
    if reason:
        applied.not_applicable.append(NotApplicable(name, reason))
        return
    aside = {n.check for n in applied.not_applicable}
    try:
        said = _with_prefix(name, check(history, **_settings(history, name)))
        found = [finding for finding in said if finding.code not in aside]
    except Exception as error:
        applied.doubts.append(f"the check {name} crashed: {type(error).__name__}: {error}")
        return
    applied.asked = applied.asked or bool(needed) or name not in own_checks()
    applied.findings += found
    if not found:
        applied.passed.append(name)


def _with_prefix(name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a check; a plug-in's may leave out the prefix of its codes."""
    prefix = name.rpartition(".")[0]
    for finding in findings:
        if prefix and not finding.code.startswith(f"{prefix}."):
            finding = msgspec.structs.replace(finding, code=f"{prefix}.{finding.code}")
        yield finding


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
            yield f"expect.must: there is no check {name!r}; {unknown_name(name, known)}"
        elif name in reasons and name in chosen:
            yield f"the scenario asks for {name}, which {reasons[name]}"


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
    asked = chosen - unasked
    for code in wanted.known:
        if code not in seen | unasked and check_of(code) in asked:
            text = f"the known defect {code} no longer appears: take it out of expect.known"
            failing.append(Finding("expect.known_missing", text))
    return tuple(failing), declared
