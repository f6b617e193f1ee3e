"""The checks by name, and the judge that applies them: pass, fail or unknown.

A crashed check is not a fault of the agent, so it makes the verdict unknown. So does a history
without an applicable check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, get_type_hints

import msgspec

from harness.checks import (
    budgets,
    conversation,
    durability,
    expectations,
    false_stops,
    isolation,
    loops,
    message_delivery,
    prompt_size,
    recovery,
    request_form,
    retries,
    session_failures,
    spending,
    stored_session,
    tool_execution,
    tool_ids,
    truthfulness,
)
from harness.checks.causes import from_causes, placed
from harness.checks.declarations import declared, exempt_rules, missing_seams, untold
from harness.checks.evidence.turn_outcomes import before_own_answers, expected, outcome
from harness.checks.expectations import doubts
from harness.checks.musts import unmet
from harness.checks.observed_reads import ObservedHistory
from harness.checks.questions import UNASKED, Questions
from harness.checks.rule_classes import BOOK_KEEPING, class_words, rule_class, rules_of
from harness.checks.unreached import UNTESTED, is_untested, unreached
from harness.core.history.history import History
from harness.core.scenario.scenario import Expect, Limits
from harness.core.transition.ports import CheckFunction
from harness.core.values.errors import InputError, nearest
from harness.core.values.finding_key import Cause
from harness.core.values.loaded_plugins import Plugin, loaded, unknown_name
from harness.core.values.verdict import (
    FAIL_ON,
    Finding,
    FindingClass,
    NotApplicable,
    Verdict,
    VerdictWord,
)

MODULES: tuple[ModuleType, ...] = (
    request_form,
    tool_ids,
    conversation,
    isolation,
    prompt_size,
    retries,
    loops,
    false_stops,
    budgets,
    spending,
    tool_execution,
    truthfulness,
    stored_session,
    durability,
    recovery,
    session_failures,
    message_delivery,
    expectations,
)
"""The families of invariants."""

ORDER = (
    *("target", "run", "limit", "script", "cassette"),
    *("valid_request", "append_only_prefix", "role_alternation", "tool_pairing", "unique_tool_ids"),
    *("nonblank_content", "wellformed_text", "ends_with_user", "history_faithful"),
    "session_isolation",
    *("bounded_turn", "no_blind_resend", "compaction_progress", "request_fits", "compaction_due"),
    *("retry_budget", "backoff", "no_progress_stop", "no_false_stop", "compaction_preserves"),
    *("budget_ceiling", "wake_budget", "bounded_spawn", "bounded_wait"),
    *("args_complete", "effect_once", "error_visible", "stream_error_handled"),
    *("reload_equivalence", "durable_first", "no_silent_loss", "resume_bounded"),
    *("inbound_exactly_once", "outbound_once", "turn_serial", "cancel_honoured"),
    *("truthful_outcome", "session_heals", "session_answers", "expect"),
)
"""The order in which the checks are applied; findings of one class are reported in it."""


def parts_of(plugin: Plugin) -> Mapping[str, CheckFunction]:
    """The checks of a plug-in, by name without its prefix."""
    return {
        name: function
        for name, function in plugin.functions.items()
        if _parameters(function)[:1] == ("history",)
    }


def own_checks() -> Mapping[str, CheckFunction]:
    """Our own checks by name."""
    return _all(())


def checks() -> Mapping[str, CheckFunction]:
    """The checks by name, those of the loaded plug-ins after our own."""
    return _all(loaded())


@cache
def _all(plugins: tuple[Plugin, ...]) -> Mapping[str, CheckFunction]:
    own: dict[str, CheckFunction] = {}
    for module in MODULES:
        own |= parts_of(Plugin("", module))
    found = {name: own[name] for name in (*ORDER, *own)}
    for plugin in plugins:
        found |= {f"{plugin.prefix}.{name}": check for name, check in parts_of(plugin).items()}
    return MappingProxyType(found)


def _undecorated(check: CheckFunction) -> FunctionType:
    while (inner := getattr(check, "__wrapped__", None)) is not None:
        check = inner
    assert isinstance(check, FunctionType)
    return check


def _parameters(check: CheckFunction) -> tuple[str, ...]:
    code = _undecorated(check).__code__
    return code.co_varnames[: code.co_argcount]


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


def names() -> dict[str, str]:
    """The content of `harness list checks`: each check's name and its question."""
    return {name: docstring_of(check).partition("\n")[0] for name, check in checks().items()}


def check_of(code: str) -> str:
    """The check of a code: the part before its last dot, or the code itself if it names a check."""
    return code if code in checks() else code.rpartition(".")[0] or code


def explain(code: str) -> str:
    """Explain a check: its question, its rules with their classes, its source, and its
    declarations.

    `code` is a check or `check.rule`. Raises InputError for an unknown name.
    """
    found, name = checks(), check_of(code)
    if name not in found:
        raise InputError(f"there is no check {name!r}; {unknown_name(name, found)}", code)
    told = "\n".join([*declarations()[name], *([] if name in own_checks() else [_BY_READS])])
    classes = "\n".join(_classes(name, code))
    return "\n\n".join(filter(None, [docstring_of(found[name]), classes, told]))


_BY_READS = "Asked by what it reads: a run in which it reads only empty lists is not applicable."
"""The question of a plug-in's check, whose rules name no events."""


def _classes(name: str, code: str) -> Iterator[str]:
    """The class of one rule, or of each rule of a check, with its reason and source."""
    if name in BOOK_KEEPING or name not in own_checks():
        _check_rule(name, code)
        return
    if code == name:
        yield from map(class_words, rules_of(name))
        return
    try:
        yield class_words(msgspec.structs.replace(rule_class(code), code=code))
    except LookupError:
        known = [row.code for row in rules_of(name)]
        raise InputError(
            f"the check {name} has no such rule; {nearest(code, known)}", code
        ) from None


def _check_rule(name: str, code: str) -> None:
    """Raise InputError for a rule that its check does not have, if the check has no table of
    classes."""
    rule = code.removeprefix(name).removeprefix(".")
    known = {*Limits.__struct_fields__} if name == "limit" else set[str]()
    known |= {*re.findall(r"`([a-z_]+)`", docstring_of(checks()[name]))}
    if rule and rule not in known and name in BOOK_KEEPING:
        raise InputError(f"the check {name} has no such rule; {nearest(rule, known)}", code)


def declarations() -> dict[str, tuple[str, ...]]:
    """The declarations of each check, in words: the seams it needs, its sources, its excuses."""
    return {name: (*_seams(check), *declared(check)) for name, check in checks().items()}


def _seams(check: CheckFunction) -> Iterator[str]:
    if seams := getattr(check, "needs", ()):
        yield f"Needs these seams: {', '.join(seams)}."


def docstring_of(check: CheckFunction) -> str:
    """The docstring of a check: a sentence, its rules, its source."""
    lines = (check.__doc__ or "").strip().splitlines()
    return "\n".join(line.strip() for line in lines)


class _Applied(msgspec.Struct):
    """The results of the checks so far."""

    findings: list[Finding] = msgspec.field(default_factory=list)
    doubts: list[str] = msgspec.field(default_factory=list)
    not_applicable: list[NotApplicable] = msgspec.field(default_factory=list)
    passed: list[str] = msgspec.field(default_factory=list)
    asked: bool = False


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
    chosen = {name: check for name, check in known.items() if only in (None, name)}
    wanted = _expectation(history)
    applied = _Applied(doubts=list(doubts(history.trace)))
    missing = tuple(unreached(history)) if history.trace.is_open and "run" in chosen else ()
    applied.not_applicable += [*exempt_rules(history, wanted, chosen), *missing]
    _apply_all(history, chosen, applied)
    is_vain = bool(missing) and is_untested(history, missing)
    # The one check that a user names need not apply, and the verdict then says why.
    applied.doubts += [] if applied.asked or only else ["no check applied"]
    lacks = [n for n in applied.not_applicable if not (is_vain and n.kind == "unasked")]
    if wanted.must:
        applied.doubts += unmet(history, wanted, lacks, known, set(chosen))
    applied.doubts += _unknown_settings(history, known)
    standing, declared = _known_apart(wanted, applied, set(chosen))
    line = fail_on or _fail_on(history, wanted)
    word = _word(any(finding.fails(line) for finding in standing), applied.doubts)
    reason = UNTESTED if is_vain else _why_not_asked(only, applied)
    if word == "pass" and reason:
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
    needed = getattr(check, "needs", ())
    missing = missing_seams(check, history.trace) if needed else ()
    reason = f"needs the seam {' and '.join(missing)}" if missing else untold(check, history.trace)
    if reason:
        applied.not_applicable.append(NotApplicable(name, reason))
        return
    aside = {n.check for n in applied.not_applicable}
    is_own = name in own_checks()
    seen = history if is_own else ObservedHistory(history)
    try:
        said = _with_prefix(name, check(seen, **_settings(history, name)))
        found = [
            _classed(history, name, check, finding) for finding in said if finding.code not in aside
        ]
    except Exception as error:
        applied.doubts.append(f"the check {name} crashed: {type(error).__name__}: {error}")
        return
    applied.asked = applied.asked or bool(needed) or not is_own
    applied.findings += found
    if isinstance(seen, ObservedHistory):
        reason = "" if found else seen.reads.reason(declares_seams=bool(needed))
        unasked = [NotApplicable(name, f"{UNASKED}{reason}", kind="unasked")] if reason else []
    else:
        unasked = questions.not_asked(name, found)
    applied.not_applicable += unasked
    rules = {f"{name}.{rule}" for rule in getattr(check, "write_order", ())}
    if not found and not (rules & aside) and all(n.check != name for n in unasked):
        applied.passed.append(name)


def _with_prefix(name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a check with full codes; a plug-in may leave out its prefix."""
    prefix = name.rpartition(".")[0]
    for finding in findings:
        if prefix and not finding.code.startswith(f"{prefix}."):
            finding = msgspec.structs.replace(finding, code=f"{prefix}.{finding.code}")
        yield finding


def _classed(history: History, name: str, check: CheckFunction, finding: Finding) -> Finding:
    """A finding with its class: from the table for our checks, else its own, else "defect"."""
    if name in BOOK_KEEPING:
        return finding
    advised = getattr(check, "advised", ()) if history.trace.world == "recording" else ()
    known = rule_class(finding.code).class_ if name in own_checks() else finding.class_ or "defect"
    is_advice = finding.code.rpartition(".")[2] in advised
    return msgspec.structs.replace(finding, class_="advice" if is_advice else known)


def _settings(history: History, name: str) -> dict[str, Any]:
    settings: dict[str, Any] = (history.trace.settings.get("checks") or {}).get(name) or {}
    return settings


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
