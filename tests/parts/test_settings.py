"""Each setting of a part is turned here, and changes what the part does.

A setting without an effect is dropped, or is a mistake. A fault is called at drawn moments with the
default and with another value: the plans differ. A check is asked of the runs of its wrong agents,
and of the reference agent beside them: it finds something else, or finds it elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

from harness.agent import agent as reference
from harness.checks.judge import CHECKS, own_checks
from harness.contracts.laws import values_of
from harness.contracts.moments import FaultCase, cases
from harness.core.history.history import History
from harness.core.values.messages import assistant, user
from harness.faults import FAULTS
from harness.fuzz.fault_grammar import fits
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript
from harness.runner import run
from tests.checks.histories import Story
from tests.generated_pages import ROOT
from tests.parts.test_laws import _mutants
from tests.scenarios.all_runs import named

NEEDS_A_RUN: dict[str, str] = {
    "context.too_long_after_compaction": "a compaction before it",
    "context.too_long_while_open": "an open call in the request",
    "http.compaction_refused": "a request for a summary",
    "http.count_tokens_disagrees": "a count of the provider that it changes",
    "http.thinking_type_refused": "a request with thinking",
    "model.cycle_of_calls": "calls in the past",
    "model.spawns_itself": "a tool that makes sub-agents",
    "model.whitespace_text": "a text of blanks, which is not drawn",
    **dict.fromkeys(
        (
            *("persistence.garbage_line", "persistence.locked", "persistence.nul_run"),
            *("persistence.partial_write", "persistence.rename_lost", "persistence.stale_cursor"),
            *("persistence.torn_tail", "persistence.torn_write"),
        ),
        "a store with rows",
    ),
    "transport.stalled_stream_with_pings": "a stream of more than three events",
}
"""Faults whose settings show only in a run, and what the run needs. Their scenarios turn them."""

OF_FAULTS = [
    (kind, name)
    for kind, fault in FAULTS.own().items()
    for name in fault.defaults
    if kind not in NEEDS_A_RUN
]
OF_CHECKS = [(name, s) for name, part in CHECKS.parts().items() for s in part.settings]
FEW = settings(
    max_examples=400, database=None, deadline=None, derandomize=True, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize(("kind", "setting"), OF_FAULTS)
def test_each_setting_of_a_fault_changes_a_plan(kind: str, setting: str) -> None:
    fault = FAULTS.own()[kind]
    values = values_of(fault.settings[setting], fault.defaults[setting])

    def changes(drawn: tuple[FaultCase, Any]) -> bool:
        (moment, plan), value = drawn
        return fault.function(moment, plan, **{setting: value}) != fault.function(moment, plan)

    find(st.tuples(cases(fault), values), changes, settings=FEW)


TURNED = {
    ("nonblank_content", "results"): "tests/checks/test_request_form.py",
    ("bounded_turn", "pause_s"): "tests/checks/test_polling.py",
    ("bounded_wait", "retry_after_s"): "tests/checks/test_wait_limits.py",
    ("backoff", "flat_gaps"): "tests/checks/test_twins_requests.py",
    ("budget_ceiling", "wall_s"): "scenarios/self-wake/tokens-without-a-user.yaml",
    ("no_progress_stop", "polls"): "tests/checks/test_polling.py",
    **{
        ("result_carried", setting): "tests/checks/test_result_content.py"
        for setting in ("code", "redacted")
    },
    **{
        ("session_answers", setting): "tests/checks/test_session_answers.py"
        for setting in ("messages", "failures")
    },
}
"""Settings that no wrong agent turns, and the file that does."""


def _resent(times: int) -> History:
    story = Story().turn("go")
    for _ in range(times):
        story.reply("To sum", stop="max_tokens", messages=[user("go")])
    return story.final("no").end()


def _compacted() -> History:
    story = Story().turn("Hello").reply("Yes.", tokens=500).final().turn("And now?")
    return story.reply("They talked.", purpose="compact").reply("Fine.").final().end()


def _left_alone() -> History:
    said = [user("Hello?"), user("Anybody?"), user("Hm.")]
    return to_history(
        Transcript(name="log", messages=(user("Hi"), assistant("Yes?"), *said), answered=True)
    )


DIRECTLY: dict[tuple[str, str], tuple[Callable[[], History], Any, Any]] = {
    ("no_blind_resend", "truncated"): (lambda: _resent(3), 1, 9),
    ("compaction_due", "tokens"): (_compacted, 1_000, 100),
    ("session_answers", "alone"): (_left_alone, 3, 4),
}
"""Settings that no wrong agent turns: a history, a value with a finding, and one without."""


@pytest.mark.parametrize("part", DIRECTLY)
def test_a_setting_decides_about_a_history(part: tuple[str, str]) -> None:
    (check, setting), (history, strict, loose) = part, DIRECTLY[part]
    assert [*own_checks()[check](history(), **{setting: strict})]
    assert not [*own_checks()[check](history(), **{setting: loose})]


def test_a_number_of_waits_is_at_least_one() -> None:
    kind = CHECKS.parts()["backoff"].settings["flat_gaps"].type
    assert msgspec.convert(1, kind) == 1
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(0, kind)


@pytest.mark.parametrize(("part", "file"), TURNED.items())
def test_the_file_that_turns_a_setting_names_it(part: tuple[str, str], file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    assert part[0] in text
    assert part[1] in text


@cache
def _histories(check: str) -> tuple[History, ...]:
    """The runs of the wrong agents of a check, and of the right agents beside them."""
    return tuple(
        run(named(wrong.mutant.scenario), agent).history
        for wrong in _mutants()[check]
        for agent in (wrong.agent, wrong.mutant.look_alike or reference)
    )


def _others(default: Any) -> list[Any]:
    """Values that are looser and stricter than a default."""
    if isinstance(default, bool):
        return [not default]
    if isinstance(default, int | float):
        return [0, 1, default * 1_000]
    return ["^Please", ["web_search"], {"any": 1}]


@pytest.mark.real
@pytest.mark.parametrize(("check", "setting"), sorted({*OF_CHECKS} - {*TURNED, *DIRECTLY}))
def test_each_setting_of_a_check_changes_what_it_finds(check: str, setting: str) -> None:
    part, ask = CHECKS.part(check), own_checks()[check]
    values = [
        value
        for value in _others(part.settings[setting].default)
        if fits(value, part.settings[setting].type)
    ]
    assert any(
        [f.code for f in ask(history, **{setting: value})] != [f.code for f in ask(history)]
        for history in _histories(check)
        for value in values
    ), f"no wrong agent of {check} is told otherwise by {setting}"
