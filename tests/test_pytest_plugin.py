"""The pytest plugin, in its own pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import AGENTS, SCENARIO
from tests.cli.test_fail_on import ADVISED

TESTS = """
import agents
import pytest

def test_good(play):
    runs = play("scenarios/greeting.yaml", agents.good)
    assert [run.name for run in runs] == ["greeting", "greeting/polite"]
    assert {run.verdict.verdict for run in runs} == {"pass"}
    assert runs.codes == frozenset()

def test_one_variant_by_specification(play):
    (run,) = play("scenarios/greeting.yaml", "agents:good", variant="polite", options={"size": 3})
    assert (run.scenario.variant, run.world) == ("polite", "simulate")

def test_a_scenario_as_a_value(play):
    from harness import load_scenarios
    (run,) = play(load_scenarios("scenarios/greeting.yaml")[0], agents.good, seed=5)
    assert run.seed == 5

def test_expected(play):
    runs = play("scenarios/greeting.yaml", agents.crashing, expect=[
        "run.nothing_intercepted", "run.unplayed_turn", "run.undelivered", "target.crashed"])
    assert "target.crashed" in runs.codes

def test_unchecked(play):
    assert play("scenarios/greeting.yaml", agents.wrong, check=False).findings

def test_wrong(play):
    play("scenarios/greeting.yaml", agents.wrong, variant="")

def test_wrong_as_a_value(play):
    from harness import Scenario
    play(Scenario(name="made"), agents.wrong)

def test_expected_and_not_found(play):
    play("scenarios/greeting.yaml", agents.good, variant="", expect="valid_request.V4")

def test_gone(play):
    play("scenarios/gone.yaml", agents.good)

def test_mistyped_variant(play):
    play("scenarios/greeting.yaml", agents.good, variant="polit")
"""


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with agents, a scenario, and tests that use `play`; without a plug-in that takes
    half a second to load."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:respx")
    pytester.makepyfile(agents=AGENTS, test_play=TESTS)
    (pytester.mkdir("scenarios") / "greeting.yaml").write_text(SCENARIO, "utf-8")
    return pytester


def test_play(session: pytest.Pytester) -> None:
    done = session.runpytest_subprocess("-p", "no:cacheprovider", "-q")
    done.assert_outcomes(passed=5, failed=5)
    done.stdout.fnmatch_lines(
        [
            "*_ test_wrong _*",
            "valid_request.V11 (defect): *",
            "  in greeting",
            "    #* model  ← 2 messages*",
            "  repeat:  pytest test_play.py::test_wrong",
            "*_ test_wrong_as_a_value _*",
            "  explain: harness explain *",
            "1 run: 1 failed; target agents:wrong; seed 0",
            "*_ test_expected_and_not_found _*",
            "expected and not found: valid_request.V4",
            "expected exactly: valid_request.V4",
            "*_ test_gone _*",
            "error: scenarios/gone.yaml: no such scenario file; looked in *",
            "*_ test_mistyped_variant _*",
            "error: *greeting.yaml: no variant 'polit'; did you mean 'polite'?",
        ]
    )
    done.stdout.no_fnmatch_line("*plugin.py:*")


def test_options(session: pytest.Pytester, tmp_path: Path) -> None:
    words = (
        "-k",
        "good or (wrong and not value)",
        "--harness-seed",
        "11",
        "--harness-out",
        str(tmp_path),
    )
    done = session.runpytest_subprocess("-p", "no:cacheprovider", *words)
    done.assert_outcomes(passed=1, failed=1, deselected=8)
    done.stdout.fnmatch_lines(
        [
            f"  history: {tmp_path}/*test_play.py/test_wrong/greeting/baseline/history.jsonl",
            "*seed 11",
        ]
    )
    assert [*tmp_path.glob("**/test_play.py/test_good/greeting/polite/verdict.json")]


def test_help(session: pytest.Pytester) -> None:
    session.runpytest_subprocess("--help").stdout.fnmatch_lines(["*--harness-seed=N*"])
    done = session.runpytest_subprocess("--fixtures")
    done.stdout.fnmatch_lines(["play*", "*Play scenarios against an agent*"])


SNAPSHOT_TESTS = """
import agents

def test_as_it_is(play, snapshot):
    runs = play("scenarios/greeting.yaml", agents.AGENT, check=False)
    assert runs == snapshot
    assert runs[0] == snapshot(name="baseline")
"""


@pytest.mark.real
def test_a_run_compares_with_a_snapshot(session: pytest.Pytester) -> None:
    session.makepyfile(test_play=SNAPSHOT_TESTS, agents=f"{AGENTS}\nAGENT = wrong\n")
    made = session.runpytest_subprocess("--snapshot-update", "-p", "no:randomly")
    made.assert_outcomes(passed=1)
    (kept,) = session.path.rglob("*.ambr")
    text = kept.read_text("utf-8")
    assert "run greeting: fail" in text
    assert "run greeting/polite: fail" in text
    assert "finding " in text
    assert str(session.path) not in text
    session.runpytest_subprocess().assert_outcomes(passed=1)
    session.makepyfile(agents=f"{AGENTS}\nAGENT = good\n")
    changed = session.runpytest_subprocess("-vv")
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(["*run greeting: pass, completed*"])


PROFILE_TESTS = """
import agents
import pytest
from harness.core.values.profile import Profile, ProfileLimits

def played(play, **named):
    (run,) = play("scenarios/greeting.yaml", agents.good, variant="", **named)
    return run.history.trace

def test_ini(play):
    assert played(play).settings["limits"]["real_s"] == 44

def test_file(play):
    assert played(play, profile="mine.yaml").settings["limits"]["real_s"] == 55

def test_value(play):
    trace = played(play, profile=Profile(limits=ProfileLimits(real_s=66)))
    assert trace.settings["limits"]["real_s"] == 66
    assert trace.profile.limits.real_s == 66

def test_unknown(play):
    played(play, profile="minne")
"""


@pytest.mark.parametrize("options", [(), pytest.param(("-n", "2"), marks=pytest.mark.real)])
def test_a_profile(session: pytest.Pytester, options: tuple[str, ...]) -> None:
    session.makepyfile(test_play=PROFILE_TESTS)
    session.makefile(".toml", harness="[profiles.configured]\nlimits = {real_s = 44}\n")
    session.makefile(".yaml", mine="limits: {real_s: 55}\n")
    session.makeini("[pytest]\nharness_profile = configured\n")
    done = session.runpytest_subprocess("-p", "no:cacheprovider", "-q", *options)
    done.assert_outcomes(passed=3, failed=1)
    done.stdout.fnmatch_lines(["*no profile of this name, and no file; known: configured"])
    session.makefile(".toml", harness="[profiles.configured]\nlimit = 1\n")
    done = session.runpytest_subprocess("-p", "no:cacheprovider", "-q")
    done.stderr.fnmatch_lines(["*harness.toml:2: key `limit`: unknown; did you mean 'limits'?"])


FAIL_ON_TESTS = """
import agents
import pytest

def test_by_the_ini(play):
    play("scenarios/greeting.yaml", agents.advised, variant="")

def test_by_keyword(play):
    (run,) = play("scenarios/greeting.yaml", agents.advised, variant="", fail_on="weakness")
    assert [f.class_ for f in run.verdict.below] == ["advice"]

def test_expected(play):
    code = "role_alternation.wire"
    play("scenarios/greeting.yaml", agents.advised, expect=code)
    play("scenarios/greeting.yaml", agents.advised, expect=code, fail_on="weakness")
"""


def test_the_line_between_findings(session: pytest.Pytester) -> None:
    session.makepyfile(agents=f"{AGENTS}\n{ADVISED}", test_play=FAIL_ON_TESTS)
    session.makeini("[pytest]\nharness_fail_on = advice\n")
    session.runpytest_subprocess("-q").assert_outcomes(passed=2, failed=1)
    done = session.runpytest_subprocess("-q", "--harness-fail-on", "weakness")
    done.assert_outcomes(passed=3)
    session.makeini("[pytest]\nharness_fail_on = opinion\n")
    done = session.runpytest_subprocess("-q")
    done.stderr.fnmatch_lines(
        ["*harness_fail_on: no class 'opinion'; known: advice, defect, weakness"]
    )


LACKING_TESTS = """
import agents
from harness.core.values.profile import Capabilities, Profile

def test_partly(play):
    runs = play("scenarios/both.yaml", agents.good)
    assert [run.verdict.verdict for run in runs] == ["pass", "not_applicable"]

def test_only(play):
    play("scenarios/streams.yaml", agents.good)
    raise AssertionError("the test goes on")

def test_unchecked(play):
    (run,) = play("scenarios/streams.yaml", agents.good, check=False)
    assert run.verdict.verdict == "not_applicable"

def test_owed(play):
    streams = Profile(capabilities=Capabilities(streaming=True))
    (run,) = play("scenarios/streams.yaml", agents.good, profile=streams)
    assert run.verdict.verdict == "pass"

def test_misbehaves(play):
    play("scenarios/both.yaml", agents.wrong)
"""


@pytest.mark.parametrize("options", [(), pytest.param(("-n", "2"), marks=pytest.mark.real)])
def test_a_test_without_an_applicable_run_is_skipped(
    session: pytest.Pytester, options: tuple[str, ...]
) -> None:
    session.makepyfile(test_play=LACKING_TESTS)
    text = "inbox: Hello\nscript: [{say: Good morning.}]\n"
    (session.path / "scenarios/both.yaml").write_text(f"name: both\nstream: both\n{text}")
    (session.path / "scenarios/streams.yaml").write_text(f"name: streams\nstream: true\n{text}")
    done = session.runpytest_subprocess("-p", "no:cacheprovider", "-rs", *options)
    done.assert_outcomes(passed=3, skipped=1, failed=1)
    said = "needs streaming: no run of this command asked for a stream"
    done.stdout.fnmatch_lines_random(
        [
            f"SKIPPED*{said}",
            f"loop-harness: 4 runs not applicable: {said}",
            "* (defect): *",
            "  in both",
        ]
    )
