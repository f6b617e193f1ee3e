"""The laws of a report: it gives lines for any event of any verb, and the same ones each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.laws import drawing, law, part_named
from harness.core.values.verdict import Finding, NotApplicable, Verdict
from harness.report.report_parts import REPORTS
from harness.verdicts.command_events import CommandFinished, CommandStarted, Event, FileRead
from harness.verdicts.result import Result

_WORDS = st.text("abc <&`|\u2028🦊\x1b", max_size=9)
_FINDINGS = st.builds(Finding, st.sampled_from(["a.b", "target.crashed"]), _WORDS,
                      class_=st.sampled_from(["defect", "weakness", ""]))  # fmt: skip
_VERDICTS = st.one_of(
    st.lists(_FINDINGS, min_size=1, max_size=3).map(lambda f: Verdict("fail", findings=tuple(f))),
    st.just(Verdict("pass", "completed", passed=("a",))),
    _WORDS.map(lambda text: Verdict("unknown", doubts=(text,))),
    _WORDS.map(
        lambda text: Verdict("not_applicable", not_applicable=(NotApplicable("run", text),))
    ),
)
_VERBS = st.sampled_from(["run", "judge", "fuzz", "diff", "shrink", "doctor", "serve"])


def check_report(report: Callable[..., Any], *, examples: int | None = None) -> None:
    """Raise AssertionError, with a plain sentence, for a law that a report breaks.

    It gives lines of text for every event, of any verb, in any number, and after an interrupt. A
    second one gives the same lines for the same events.
    """
    part = part_named(report, REPORTS)

    @drawing(examples)
    @given(_VERBS, st.lists(_VERDICTS, max_size=4), st.booleans())
    def holds(verb: str, verdicts: list[Verdict], interrupted: bool) -> None:
        events = _events(verb, verdicts, interrupted)
        first, second = (_lines(part.made(), events, report.__name__) for _ in range(2))
        law(first == second, f"{report.__name__}: the same events give other lines")

    holds()


def _events(verb: str, verdicts: list[Verdict], interrupted: bool) -> list[Event]:
    results = [
        Result(name=f"s/{n}", scenario="s", title="t", target="mine", world="simulate", seed=n,
               verdict=verdict, repeat="harness run s")
        for n, verdict in enumerate(verdicts)
    ]  # fmt: skip
    planned = tuple((result.name, result.scenario) for result in results)
    started = CommandStarted(verb=verb, planned=planned)
    read = [FileRead(path="s", results=tuple(results))] if verb == "judge" else []
    return [started, *results, *read, CommandFinished(interrupted=interrupted)]


def _lines(report: Callable[[Event], Iterable[str]], events: list[Event], name: str) -> list[str]:
    lines = [line for event in events for line in report(event) or ()]
    is_text = all(isinstance(line, str) for line in lines)
    law(is_text, f"{name}: it gives what is not a line of text")
    return lines
