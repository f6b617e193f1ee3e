"""The laws of a check.

A check is pure, and the events of the history prove its findings. It passes only what asks it. A
finding on a prefix stays on the whole run, because an agent is judged while it runs. A check that
needs the end declares `at_end`.

The histories are of generated runs. Each number names one run, cached in the process. The reference
agent plays it, or an agent with bad habits, so that a check has something to find. A habit is one
defect of real agents, and one bit of the option `habits`. With 0 that agent is the loop of a
tutorial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from inspect import signature
from random import Random
from typing import Any, get_args, get_type_hints

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.composition import standard_model
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import LanguageModel, Query
from harness.agent.toolbox import Toolbox
from harness.checks.judge import CHECKS, judge
from harness.checks.judge.observed_reads import ObservedHistory
from harness.contracts.laws import check_defaults, drawing, law, part_named, settings_of
from harness.core.history.history import History, decode, encode
from harness.core.scenario.scenario import Limits, Scenario
from harness.core.transition.ports import CheckFunction
from harness.core.values.brief import Brief
from harness.core.values.calls import Seam
from harness.core.values.messages import Message, results, user
from harness.core.values.verdict import BOOK_KEEPING, CLASSES, Finding
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.scenario_grammar import Options, scenario_of
from harness.runner import run
from harness.targets.output_capture import captured
from harness.targets.spec import of_callable, resolve

Settings = dict[str, Any]


def check_check(
    check: CheckFunction,
    *,
    at_end: bool = False,
    more: st.SearchStrategy[History] | None = None,
    examples: int | None = None,
) -> None:
    """Raise AssertionError, with a plain sentence, for a law that a check breaks.

    `at_end`: its findings need the end of the run, so a prefix may have others. `more` adds your
    own histories to the generated ones, preferably histories with findings of the check. `examples`
    is the number of histories to draw; the default is that of the Hypothesis profile.
    """
    name = check.__name__
    part_named(check, CHECKS)
    types, defaults = _settings(check)
    _check_declarations(check, types, defaults)

    @drawing(examples)
    @given(
        histories() if more is None else more | histories(),
        settings_of(types, defaults),
        st.floats(0, 1, allow_nan=False),
    )
    def holds(history: History, settings: Settings, part: float) -> None:
        found = _check_history(check, history, settings)
        for finding in found:
            _check_finding(name, finding, history, at_end)
        if not at_end:
            _check_prefix(check, history, settings, part, found)
        _check_asked(check, history, settings, found)

    holds()


def _settings(check: CheckFunction) -> tuple[dict[str, object], Settings]:
    """The keyword-only parameters of a check: their types and their defaults."""
    own = [p for p in signature(check).parameters.values() if p.kind is p.KEYWORD_ONLY]
    hints = get_type_hints(check, include_extras=True)
    for one in own:
        what = f"{check.__name__}: the setting {one.name} has no"
        law(one.default is not one.empty, f"{what} default")
        law(one.name in hints, f"{what} type")
    return {p.name: hints[p.name] for p in own}, {p.name: p.default for p in own}


def _check_declarations(check: CheckFunction, types: dict[str, object], defaults: Settings) -> None:
    seams = get_args(Seam)
    for seam in getattr(check, "needs", ()):
        law(seam in seams, f"{check.__name__} needs {seam!r}; there are {', '.join(seams)}")
    check_defaults(check.__name__, types, defaults)


def _check_history(check: CheckFunction, history: History, settings: Settings) -> list[Finding]:
    """Run a check twice, and on the same history from its file; the findings must be equal."""
    name, before = check.__name__, encode(history.events)
    shown = list(_contents(history))
    found = _found(check, history, settings)
    law(encode(history.events) == before, f"{name} changes the events of the history")
    law(list(_contents(history)) == shown, f"{name} changes the trace of the history")
    law(_found(check, history, settings) == found, f"{name} has other findings the second time")
    again = _found(check, decode(before), settings)
    law(again == found, f"{name} has other findings in the same history from its file")
    return found


def _check_asked(
    check: CheckFunction, history: History, settings: Settings, found: list[Finding]
) -> None:
    """Compare the check with the judge, which observes what it reads to know whether it was asked.

    A start without a call after it asks nothing of an agent, so no check of agents passes it.
    """
    name = check.__name__
    seen = _found(check, ObservedHistory(history), settings)
    law(seen == found, f"{name} has other findings when the judge observes what it reads")
    start = decode(encode(history.events[:1]))
    passed = {*judge(start, only=name, extra=[check]).passed} - BOOK_KEEPING
    law(name not in passed, f"{name} passes a history in which nothing happens")


def _contents(history: History) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """The content of the trace, list by list: a check may read every list and change none."""
    trace = history.trace
    for holder in (trace, *trace.turns.values()):
        for field in holder.__struct_fields__:
            value = getattr(holder, field)
            if isinstance(value, (list, dict)):
                yield field, len(value), tuple(map(id, value))


def _found(check: Callable[..., Any], history: History, settings: Settings) -> list[Finding]:
    try:
        found = list(check(history, **settings))
    except Exception as error:
        what = f"{check.__name__} raises {type(error).__name__}: {error}"
        law(False, f"{what}; settings {settings}, {len(history.events)} events")
    for finding in found:
        is_one = isinstance(finding, Finding)
        law(is_one, f"{check.__name__} yields a {type(finding).__name__}: a check yields findings")
    return found


def _check_finding(name: str, finding: Finding, history: History, at_end: bool) -> None:
    own, _, rule = finding.code.rpartition(".")
    is_own = bool(rule) and own.rpartition(".")[2] == name
    law(is_own, f"{name} yields the code {finding.code!r}: a code is `{name}.RULE`")
    law(bool(finding.message.strip()), f"{name}: the finding {finding.code} has no message")
    what = f"{name}: the class of {finding.code} is {finding.class_!r}"
    law(finding.class_ in ("", *CLASSES), f"{what}; there are {', '.join(CLASSES)}")
    named = bool(finding.events) or at_end
    law(named, f"{name}: the finding {finding.code} names no event that proves it")
    for n in finding.events:
        there = isinstance(n, int) and 0 < n <= len(history.events)
        law(there, f"{name}: {finding.code} is proved by event {n}, which does not exist")


def _check_prefix(
    check: CheckFunction, history: History, settings: Settings, part: float, found: list[Finding]
) -> None:
    """Compare a prefix with the whole: each finding must stay, with at least one common event."""
    for early in _found(check, prefix(history, part), settings):
        stays = any(
            late.code == early.code and not set(early.events).isdisjoint(late.events)
            for late in found
        )
        name = check.__name__
        what = f"{name} finds {early.code} at the beginning of a run, but not in the whole run"
        law(stays, f"{what}: {early.message}; with at_end=True it need not")


RUNS = 48
"""The number of runs to draw from."""

_OPTIONS = Options(faults=("*",), kills=False, limits=Limits(model_calls=40, real_s=20.0))


def histories() -> st.SearchStrategy[History]:
    """Histories of whole runs; each draw is a new object, because a wrong check may change it."""
    return st.integers(0, RUNS - 1).map(lambda number: decode(played(number)))


@lru_cache(maxsize=RUNS)
def played(number: int) -> bytes:
    """The lines of the history of the run with this number."""
    scenario = scenario_of(ChoiceSequence((), Random(number)), _OPTIONS)
    with captured("fd"):
        return encode(_run(scenario, number).events)


def _run(scenario: Scenario, number: int) -> History:
    if number % 3 == 0:
        return run(scenario, resolve("reference")).history
    scenario = msgspec.structs.replace(scenario, stream=False)
    habits = Random(number).randrange(1 << len(HABITS))
    return run(scenario, of_callable(careless), options={"habits": habits}).history


def prefix(history: History, part: float) -> History:
    """The first part of a history, from empty (0) to complete (1)."""
    lines = encode(history.events).splitlines(keepends=True)
    return decode(b"".join(lines[: round(part * len(lines))]))


HABITS = ("forgets", "insists", "repeats calls", "drops results", "says nothing", "says it twice",
          "boasts")  # fmt: skip

ROUNDS = 6
"""The number of model answers after which a turn ends."""


def careless(brief: Brief) -> None:
    """Answer every message, badly."""
    bits = int(brief.options.get("habits", 0))
    habits = {habit for place, habit in enumerate(HABITS) if bits >> place & 1}
    model, toolbox, messages = standard_model(brief), Toolbox(brief.tools), list[Message]()
    for inbound in brief.inbox():
        if "forgets" in habits:
            messages.clear()
        messages.append(user(inbound.text or "-"))
        said, failed = _turn(model, toolbox, messages, habits)
        status = "failed" if failed and "boasts" not in habits else "completed"
        times = 0 if "says nothing" in habits else 2 if "says it twice" in habits else 1
        for _ in range(times):
            brief.send(said, in_reply_to=inbound.id, session=inbound.session, status=status)


def _turn(
    model: LanguageModel, toolbox: Toolbox, messages: list[Message], habits: set[str]
) -> tuple[str, bool]:
    """Return the agent's last text, and whether the model could not be called."""
    for _ in range(ROUNDS):
        said = _ask(model, Query(tuple(messages), toolbox.specs), 9 if "insists" in habits else 1)
        if said is None:
            return "Something went wrong.", True
        messages.append(said)
        if "repeats calls" in habits:
            _ = [*map(toolbox.run, said.tool_uses)]
        done = [*map(toolbox.run, said.tool_uses)]
        if not done:
            return said.text or "-", False
        if "drops results" in habits:
            done.pop()
        messages.append(results(*done) if done else user("And?"))
    return "I gave up.", False


def _ask(model: LanguageModel, query: Query, attempts: int) -> Message | None:
    """The model's message; None if every attempt fails."""
    for _ in range(attempts):
        with suppress(ModelFailure):
            return model.query(query).message
    return None
