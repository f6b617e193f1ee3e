"""Hundreds of findings read in one screen: by cause, by class, and by the reasons of silence."""

from __future__ import annotations

import msgspec
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import CrashPlace, Finding, NotApplicable, Verdict
from harness.report.command_summary import GROUPS_MAX, cause_lines, summary, totals
from harness.verdicts.tallies import CauseTally
from tests.report.fabricated import summary as run

LOOP = Finding("no_progress_stop.same_call", "read runs again, 3 times", (4,), "weakness")
CUT = Finding(
    "args_complete.truncated", "write_file runs although the answer broke off", (5,), "defect"
)
LIMIT = Finding("limit.model_calls", "the limit was reached", (9,), follows=LOOP.code)
ADVICE = Finding("role_alternation.wire", "two in a row", (2,), "advice")
SILENT = Finding("run.silent_fault", "the armed fault never fired", (7,))


def crash(place: str, error: str, word: str) -> Finding:
    """A crash of the target with its own word."""
    file, _, line = place.rpartition(":")
    at = CrashPlace(file, int(line), "turn", error)
    said = f"the target crashed at {place}: {error}: {word} (in turn)"
    return Finding("target.crashed", said, place=at)


def fails(name: str, *found: Finding) -> object:
    """A failing run."""
    return run(name, Verdict("fail", "limit", findings=found))


RUNS = [
    *(fails(f"loops/variant-{n}", LOOP, LIMIT, LIMIT) for n in range(60)),
    fails("loops", msgspec.structs.replace(LOOP, message="shortest"), LIMIT),
    fails("cut/one", CUT, CUT, LOOP, LIMIT, SILENT),
    *(fails(f"crash/{n}", crash("agent.py:7", "KeyError", repr(str(n)))) for n in range(3)),
    fails("crash/elsewhere", crash("agent.py:9", "KeyError", "'x'")),
    run("kind", Verdict("pass", "completed", findings=(ADVICE,))),
    *(run(f"odd/{n}", Verdict("unknown", doubts=("the check x crashed: E: 1",))) for n in (1, 2)),
    *(run(f"late/{n}", Verdict("not_applicable", not_applicable=(
        NotApplicable("run", f"needs virtual time: fault {n}", kind="time", detail=str(n)),)))
      for n in (1, 2)),
    *(run(f"mute/{n}", Verdict("not_applicable", not_applicable=(
        NotApplicable("run", "needs cancel: no run asked", "cancel", "unused"),)))
      for n in (1, 2, 3)),
    run("early", Verdict("pass", "completed", not_applicable=(
        NotApplicable("run.unplayed_turn", "unreached: script turn 2"),))),
]  # fmt: skip


def test_one_screen(snapshot: SnapshotAssertion) -> None:
    said = [*summary(RUNS, 80), totals(RUNS, planned=90)]
    assert len(said) < 50
    assert "\n".join(said) == snapshot


def test_a_run_counts_once_in_a_cause_and_what_follows_in_none() -> None:
    tally = CauseTally()
    tally.add("a", Verdict("fail", findings=(CUT, CUT, LOOP, LIMIT)))
    tally.add("longer", Verdict("fail", findings=(CUT,)))
    found = {group.finding.code: (group.runs, group.example) for group in tally.groups()}
    assert found == {CUT.code: (2, "a"), LOOP.code: (1, "a")}


def test_crashes_at_two_places_are_two_causes() -> None:
    tally = CauseTally()
    for place, word in (("a.py:1", "x"), ("a.py:1", "y"), ("a.py:2", "x")):
        tally.add("run", Verdict("fail", findings=(crash(place, "KeyError", word),)))
    assert [group.runs for group in tally.groups()] == [2, 1]


def test_what_fails_comes_first_and_more_causes_than_a_screen_are_named() -> None:
    tally = CauseTally()
    tally.add("kind", Verdict("pass", findings=(ADVICE,)))
    many = (Finding(f"mine.check.rule{n}", "wrong", class_="defect") for n in range(GROUPS_MAX))
    tally.add("bad", Verdict("fail", findings=(*many, LOOP)))
    lines = [*cause_lines(tally, 80)]
    assert lines[-1] == f"and 2 more: {LOOP.code}, {ADVICE.code}"
    assert tally.groups()[-1].fails is False


def test_nothing_was_found() -> None:
    assert [*summary([run("good", Verdict("pass", "completed"))], 80)] == []
    assert totals([]) == "0 runs: nothing ran; target ; seeds "
