"""An import says of each finding whether its scenario shows it again, and if not, why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.agent import agent as reference
from harness.agent.naive_agent import agent as naive
from harness.cli import scenario_import
from harness.cli.scenario_import import ImportRequest, ScenarioImport
from harness.files import load_scenarios
from harness.runner import run
from tests.record_incidents import INCIDENTS, path_of
from tests.recordings.imports import import_file

_Line = dict[str, Any]


def _said(role: str, *content: _Line | str) -> _Line:
    blocks = [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]
    return {"type": role, "message": {"role": role, "content": blocks}}


def _round(id_: str, text: str, failed: bool = True, **input: Any) -> list[_Line]:
    use = {"type": "tool_use", "id": id_, "name": "find", "input": input}
    got = {"type": "tool_result", "tool_use_id": id_, "content": text, "is_error": failed}
    return [_said("assistant", use), _said("user", got)]


def _loop(times: int, text: str = "busy", failed: bool = True, at: str = "t") -> list[_Line]:
    return [
        line for n in range(times) for line in _round(f"{at}{n}", text.format(n), failed, q="x")
    ]


def _import(folder: Path, lines: Sequence[_Line], at: int | None = None) -> ScenarioImport:
    file = folder / "session.jsonl"
    rows = ({"sessionId": "s", "uuid": str(n), **line} for n, line in enumerate(lines))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return import_file(ImportRequest(file=file, name="it", out=folder, at=at, force=True))


def _import_chat(folder: Path, lines: Sequence[_Line], at: int | None = None) -> ScenarioImport:
    """Import the same messages without a program's envelope: what stands there was sent."""
    file = folder / "chat.jsonl"
    file.write_text("".join(json.dumps(line["message"]) + "\n" for line in lines), "utf-8")
    return import_file(ImportRequest(file=file, name="it", out=folder, at=at, force=True))


def _fates(made: ScenarioImport) -> dict[tuple[str, int], tuple[str, str, int]]:
    return {(f.place.code, f.place.turn): (f.shown, f.lost, f.at) for f in made.fates}


CALL, FAILURE = "no_progress_stop.same_call", "no_progress_stop.same_failure"
ASKED, ANSWERED = _said("user", "Hello"), _said("assistant", "Good morning.")


def test_a_loop_is_found_again_in_its_turn(tmp_path: Path) -> None:
    lines = [ASKED, ANSWERED, _said("user", "Find it"), *_loop(5), _said("assistant", "I cannot.")]
    made = _import(tmp_path, lines)
    assert made.turns == 2
    assert _fates(made) == {(CALL, 2): (CALL, "", 2), (FAILURE, 2): (FAILURE, "", 2)}
    head = made.scenario.read_text("utf-8").splitlines()
    line = f"{CALL} in turn 2 of 2 is reproduced by a naive agent (see --at 2)"
    assert f"# {line}" in head
    assert f"  {line}" in list(made.text())
    small = f"harness shrink {made.scenario} --target naive --keep {CALL}"
    assert list(made.text())[-1] == f"shrink it: {small}"
    (scenario,) = load_scenarios(made.scenario)
    assert {CALL, FAILURE} <= {f.code for f in run(scenario, naive).verdict.findings}
    assert run(scenario, reference).verdict.verdict == "pass"


def test_from_its_turn_on_it_is_there_at_once(tmp_path: Path) -> None:
    lines = [ASKED, ANSWERED, _said("user", "Find it"), *_loop(5), _said("assistant", "I cannot.")]
    fates = _fates(_import(tmp_path, lines, at=2))
    assert fates == {(CALL, 2): (CALL, "", 0), (FAILURE, 2): (FAILURE, "", 0)}


def test_a_loop_from_before_the_turn_is_lost(tmp_path: Path) -> None:
    lines = [ASKED, *_loop(5), ANSWERED, _said("user", "And now?"), ANSWERED]
    fates = _fates(_import(tmp_path, lines, at=2))
    assert fates[CALL, 1] == ("", "it stands before turn 2", 1)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (_loop(3), "a run shows it at the 4th time, and it stands there 3 times"),
        (
            [*_loop(2, "busy", failed=False), *_loop(3, "{}", failed=False, at="u")],
            "its results differ, which in a run is progress",
        ),
        (
            [*_loop(2), ANSWERED, _said("user", "Again"), *_loop(2, at="u")],
            "its calls stand in several turns of the user, or in one message",
        ),
    ],
)
def test_why_a_loop_is_lost(tmp_path: Path, lines: list[_Line], why: str) -> None:
    fates = _fates(_import(tmp_path, [ASKED, *lines, ANSWERED]))
    assert ("", why) in {(shown, lost) for shown, lost, _ in fates.values()}


def test_what_the_recorded_agent_sent_is_kept_in_the_session(tmp_path: Path) -> None:
    """A call without a result, before the second message of the user."""
    use = {"type": "tool_use", "id": "t1", "name": "find", "input": {}}
    seen = _round("t0", "seen", failed=False)
    lines = [ASKED, *seen, _said("assistant", use), _said("user", "Well?"), ANSWERED,
             _said("user", "Are you there?"), ANSWERED]  # fmt: skip
    code = "tool_pairing.unanswered"
    ((place, (shown, lost, at)),) = _fates(_import_chat(tmp_path, lines)).items()
    assert (place, shown, at) == ((code, 2), "", 3)
    assert lost == "it is in what the recorded agent sent, and a naive agent sends its own"
    made = _import_chat(tmp_path, lines, at=3)
    assert _fates(made) == {(code, 2): ("valid_request.V4", "", 0)}
    (scenario,) = load_scenarios(made.scenario)
    assert run(scenario, reference).verdict.verdict == "pass"


def test_an_id_that_the_model_used_twice_is_used_twice_again(tmp_path: Path) -> None:
    rounds = (*_round("t", "one", failed=False, q="a"), *_round("t", "two", failed=False, q="b"))
    lines = [ASKED, *rounds, ANSWERED]
    made = _import(tmp_path, lines)
    assert _fates(made) == {("unique_tool_ids.repeated", 1): ("unique_tool_ids.repeated", "", 0)}
    (scenario,) = load_scenarios(made.scenario)
    assert run(scenario, reference).verdict.verdict == "pass"


def test_a_finding_is_found_again_in_its_own_turn_alone(tmp_path: Path) -> None:
    lines = [ASKED, *_loop(3, "no"), ANSWERED, _said("user", "Again"), *_loop(5, at="u"), ANSWERED]
    fates = _fates(_import(tmp_path, lines))
    why = "a run shows it at the 4th time, and it stands there 3 times"
    assert (fates[FAILURE, 1], fates[FAILURE, 2]) == (("", why, 0), (FAILURE, "", 2))


def test_behind_a_damaged_session_no_turn_is_offered(tmp_path: Path) -> None:
    """A provider refuses every request of a session from there on."""
    use = {"type": "tool_use", "id": "x", "name": "find", "input": {}}
    lines = [ASKED, _said("assistant", use), _said("user", "Well?"), ANSWERED,
             _said("user", "Find it"), *_loop(5), ANSWERED]  # fmt: skip
    fates = _fates(_import_chat(tmp_path, lines))
    assert fates[FAILURE, 3] == (FAILURE, "", 0)
    assert fates["tool_pairing.unanswered", 2][2] == 3


def test_a_scenario_that_is_too_long_is_not_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenario_import, "PLAYED_MAX_BYTES", 100)
    lines = [ASKED, ANSWERED, _said("user", "Find it"), *_loop(5), ANSWERED]
    made = _import(tmp_path, lines)
    assert (made.fates, made.findings) == ((), (CALL, FAILURE))
    assert made.unplayed.startswith("it is too long to be played, its 7 requests would hold ")
    assert made.unplayed.endswith(" a finding is in turn 2: import a part with --at")
    assert f"  not replayed: {made.unplayed}" in list(made.text())


def test_a_long_recording_without_findings_is_told_to_be_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenario_import, "PLAYED_MAX_BYTES", 100_000)
    lines = [line for _ in range(100) for line in (ASKED, ANSWERED)]
    whole = _import(tmp_path, lines)
    assert whole.unplayed.endswith(" its last turn is 100: import a part with --at")
    assert _import(tmp_path, lines, at=100).unplayed == ""


def test_a_recording_without_findings_is_not_played(tmp_path: Path) -> None:
    made = _import(tmp_path, [ASKED, ANSWERED])
    assert (made.findings, made.fates, made.unplayed) == ((), (), "")
    assert made.keys()["found_again"] == []


def test_findings_of_a_run_of_ours_are_placed_by_its_deliveries(tmp_path: Path) -> None:
    name = "identical-failures"
    made = import_file(ImportRequest(file=path_of(name), name=name, out=tmp_path))
    assert INCIDENTS[name].killed_by in {fate.shown for fate in made.fates}
    assert all(fate.place.turn for fate in made.fates)


def test_a_long_list_of_turns_is_shortened(tmp_path: Path) -> None:
    lines = [
        line
        for n in range(12)
        for line in (_said("user", f"Find {n}"), *_loop(4, f"busy {n}", at=f"t{n}-"), ANSWERED)
    ]
    told = [line for line in _import(tmp_path, lines).text() if FAILURE in line]
    assert any(" in turn 1, 2, 3, 4, 5, 6, 7, 8 and 4 more of 12 is reproduced" in t for t in told)
