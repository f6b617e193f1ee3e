"""Scenario files as test items, in its own pytest."""

from __future__ import annotations

import pytest

from harness.files import scenario_values
from harness.providers.anthropic import provider
from harness.runner import run
from tests.cli.conftest import AGENTS, CHATS

LOADED = (provider, run, scenario_values)
"""Loaded before a pytest within this one, which takes away the modules that it has loaded."""

GREETING = """\
name: greeting
wire: [anthropic, openai-chat]
stream: both
inbox: Hello
script: [{say: Good morning.}]
variants:
  polite: {inbox: Good day}
"""
PLAIN = "name: plain\ninbox: Hello\nscript: [{say: Good morning.}]\n"
IDS = [
    f"scenarios/greeting.yaml::{variant}{wire}{stream}"
    for variant in ("baseline", "polite")
    for wire in ("", "@openai-chat")
    for stream in ("", "+stream")
]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with agents, two scenarios, YAML of others, and a test."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -p no:respx")
    pytester.makepyfile(agents=AGENTS, test_own="def test_own():\n    pass\n")
    (pytester.mkdir("scenarios") / "greeting.yaml").write_text(GREETING)
    (pytester.path / "scenarios/plain.yaml").write_text(PLAIN)
    (pytester.path / "scenarios/compose.yaml").write_text("services: {db: {image: x}}\n")
    (pytester.path / "elsewhere.yaml").write_text(PLAIN.replace("plain", "elsewhere"))
    return pytester


def ids(project: pytest.Pytester, *words: str) -> list[str]:
    """The scenario items that pytest collects."""
    done = project.runpytest_inprocess("--collect-only", "-q", *words)
    return [line for line in done.outlines if ".yaml::" in line]


@pytest.mark.real
def test_nothing_is_collected_unless_it_is_asked_for(project: pytest.Pytester) -> None:
    assert ids(project) == []
    assert ids(project, "scenarios") == []
    assert ids(project, "--harness-target", "reference") == []


@pytest.mark.parametrize(
    "pattern",
    [
        "scenarios/**/*.yaml",
        pytest.param("scenarios", marks=pytest.mark.real),
        pytest.param("scenarios/[gp]*.yaml", marks=pytest.mark.real),
    ],
)
def test_a_pattern_collects_one_item_a_run(project: pytest.Pytester, pattern: str) -> None:
    project.makeini(
        f"[pytest]\nharness_target = reference\nharness_scenarios = {pattern}\n"
        "testpaths = test_own.py\nharness_wire = all\n"
    )
    assert ids(project) == [*IDS, "scenarios/plain.yaml::baseline"]
    assert ids(project, "test_own.py") == []
    assert ids(project, "-k", "polite and openai") == [IDS[6], IDS[7]]
    assert ids(project, IDS[3], "-m", "harness") == [IDS[3]]


def test_without_a_wire_the_runs_of_a_course_are_one_item(project: pytest.Pytester) -> None:
    """It is played on the wire that its agent speaks, which is here the second one."""
    project.makepyfile(chats=CHATS)
    words = ("scenarios", "--harness-scenarios", "scenarios", "--harness-target", "chats:agent")
    assert ids(project, *words) == [*IDS[:2], *IDS[4:6], "scenarios/plain.yaml::baseline"]
    done = project.runpytest_inprocess(*words, "-k", "greeting and not polite and not stream")
    done.assert_outcomes(passed=1)


@pytest.mark.real
def test_the_session_chooses_wire_and_stream(project: pytest.Pytester) -> None:
    words = ("scenarios", "--harness-scenarios", "scenarios", "--harness-target", "reference")
    both = ids(project, *words, "--harness-wire", "openai-chat", "--harness-stream", "false")
    plain = "scenarios/plain.yaml::baseline@openai-chat"
    assert both == [IDS[2], IDS[6], plain]
    (project.path / "harness.toml").write_text('[profiles.mine]\nwires = ["gemini"]\n')
    found = ids(project, *words, "--harness-profile", "mine", "-k", "plain")
    assert found == [plain.replace("openai-chat", "gemini")]


def test_a_named_file_plays_the_configured_target(project: pytest.Pytester) -> None:
    (project.path / "harness.toml").write_text('target = "agents:wrong"\n')
    done = project.runpytest_inprocess("elsewhere.yaml", "--harness-out", "kept")
    done.assert_outcomes(failed=1)
    block = done.stdout.str().partition("elsewhere::baseline")[2].splitlines()
    assert block[1].startswith("valid_request.V11 (defect): ")
    assert "  repeat:  pytest elsewhere.yaml::baseline" in block
    assert [*project.path.glob("kept/elsewhere.yaml/baseline/**/history.jsonl")]


@pytest.mark.real
def test_files_that_are_not_below_the_root(project: pytest.Pytester) -> None:
    project.makeini(
        "[pytest]\nharness_target = reference\n"
        "harness_scenarios = @loops/do-nothing ../outside .hidden/*.yaml\n"
    )
    for folder in (project.path.parent / "outside", project.path / ".hidden"):
        folder.mkdir(exist_ok=True)
        (folder / "plain.yaml").write_text(PLAIN)
    done = project.runpytest_inprocess("--collect-only", "-q")
    assert "@loops/do-nothing::baseline" in done.outlines
    assert "../outside/plain.yaml::baseline" in done.outlines
    done.stdout.fnmatch_lines(["*harness_scenarios: *.hidden/plain.yaml is not collected: *"])
    done = project.runpytest_inprocess("-q", "--harness-target", "agents:wrong", "-k", "plain")
    done.stdout.fnmatch_lines(["  repeat:  pytest -c *.ini ../outside/plain.yaml::baseline --har*"])
    assert ids(project, "../outside/plain.yaml::baseline", "-c", "tox.ini") == [
        "../outside/plain.yaml::baseline"
    ]


MISTAKES = {
    ("elsewhere.yaml",): "error: *elsewhere.yaml: name the agent that plays it: --harness-target*",
    ("mistyped.yaml", "--harness-target", "reference"): "error: *mistyped.yaml:3: key `sai`: *",
    ("missing.yaml", "--harness-target", "reference"): "error: *missing.yaml:2: key `scrip`: *",
    ("torn.yaml",): "error: *torn.yaml:2: *",
}


@pytest.mark.parametrize(
    "words",
    [*[*MISTAKES][:1], *(pytest.param(w, marks=pytest.mark.real) for w in [*MISTAKES][1:])],
)
def test_a_bad_file_is_one_error_of_the_collection(
    project: pytest.Pytester, words: tuple[str, ...]
) -> None:
    (project.path / "mistyped.yaml").write_text("name: mistyped\nscript:\n  - {sai: x}\n")
    (project.path / "missing.yaml").write_text("name: missing\nscrip: []\n")
    (project.path / "torn.yaml").write_text('script: ["a\n')
    done = project.runpytest_inprocess(*words)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([MISTAKES[words]])
    assert len([line for line in done.outlines if line.startswith("error: ")]) == 1


INI = {
    "harness_scenarios = scenrios/*.yaml": "harness_scenarios: 'scenrios/\\*.yaml' matches no *",
    "harness_scenarios = @lops": "@lops: the package contains nothing of this name; did you mean*",
    "harness_scenarios = scenarios": "harness_scenarios: name the agent that plays it: *",
    "harness_scenarios = scenarios\nharness_profile = mine": "*no profile of this name*",
}


@pytest.mark.parametrize(
    "lines", [*[*INI][:1], *(pytest.param(x, marks=pytest.mark.real) for x in [*INI][1:])]
)
def test_a_wrong_key_ends_the_session_with_a_line(project: pytest.Pytester, lines: str) -> None:
    project.makeini(f"[pytest]\n{lines}\n")
    done = project.runpytest_inprocess()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: {INI[lines].replace(chr(92) + '*', '[*]')}"])


@pytest.mark.real
def test_workers_and_the_last_failures(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:respx")
    ini = "[pytest]\nharness_target = agents:good\nharness_scenarios = scenarios/*.yaml\n"
    (project.path / "scenarios/streams.yaml").write_text(
        PLAIN.replace("plain", "streams") + "stream: true\n"
    )
    project.makeini(ini)
    words = ("-p", "no:cacheprovider", "-rs", "scenarios/plain.yaml", "scenarios")
    done = project.runpytest_subprocess("-n", "2", *words)
    done.stdout.fnmatch_lines(["*needs streaming: no run of this command asked for a stream"])
    project.makeini(ini.replace("agents:good", "agents:wrong"))
    done = project.runpytest_subprocess("-x", "-k", "plain or streams")
    done.assert_outcomes(failed=1)
    done = project.runpytest_subprocess("--lf")
    done.assert_outcomes(failed=1)


def test_a_name_of_the_catalogue_collects_its_scenarios(project: pytest.Pytester) -> None:
    project.makeini(
        "[pytest]\nharness_target = naive\n"
        "harness_scenarios = @loops/circles scenarios/plain.yaml\n"
    )
    collected = ids_of_all(project)
    assert {"@loops/circles::baseline", "scenarios/plain.yaml::baseline"} <= collected
    assert len(collected) == 25
    project.runpytest_inprocess("--collect-only", "-q").stdout.fnmatch_lines(
        ["26 tests collected*"]
    )
    failed = project.runpytest_inprocess("-q", "-k", "circles and baseline and not stream")
    repeats = [line for line in failed.outlines if line.strip().startswith("repeat:")]
    said = {line.partition("repeat:")[2].strip() for line in repeats}
    assert said == {"harness run @loops/circles --only circles --target naive"}
    failed.assert_outcomes(failed=1)
    assert not [line for line in ids(project, "test_own.py") if "circles" in line]


def ids_of_all(project: pytest.Pytester) -> set[str]:
    """The items that are not functions, by the whole of their ids."""
    done = project.runpytest_inprocess("--collect-only", "-q")
    return {line for line in done.outlines if "::" in line and ".py::" not in line}


def test_a_wrong_name_of_the_catalogue_is_answered_with_the_nearest(
    project: pytest.Pytester,
) -> None:
    project.makeini("[pytest]\nharness_target = naive\nharness_scenarios = @lops\n")
    done = project.runpytest_inprocess("--collect-only", "-q")
    done.stderr.fnmatch_lines(
        ["ERROR: @lops: the package contains nothing of this name; did you mean*"]
    )
