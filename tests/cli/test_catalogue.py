"""The verbs take the names of the catalogue, and print them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from harness import load_scenarios, resolve, run
from harness.cli.run import _again
from harness.cli.shrink_source import scenarios_of
from harness.core.values.profile import NO_PROFILE
from harness.files.bundle import bundled
from harness.pytest_plugin import Play
from harness.verdicts.result import Invocation
from tests.cli.talks import REFERENCE, Command

CIRCLE = ("run", "@loops/circles", "--only", "circles")


def play_first() -> None:
    """Keep a run of the scenario below the usual folder."""
    run(load_scenarios("@loops/circles")[0], resolve("naive"), out=Path(".harness/runs"))


@pytest.mark.real
def test_a_scenario_is_played_by_its_name_and_repeated_by_it(
    in_process: Command, empty: Path
) -> None:
    done = in_process(*CIRCLE, "--target", "naive")
    assert done.status == 1
    shown = in_process("show", "@loops/circles")
    assert "no_progress_stop" in shown.out
    assert [path.name for path in empty.iterdir()] == [".harness"]
    (repeat,) = (line for line in done.out.splitlines() if line.strip().startswith("repeat:"))
    assert repeat.partition("harness ")[2].startswith("run @loops/circles --only circles ")


def test_a_dry_run_names_the_files(in_process: Command, empty: Path) -> None:
    done = in_process("run", "@tools", "@cassettes/empty-inputs", "--dry-run", "--json")
    files = {json.loads(row)["file"] for row in done.out.splitlines()}
    assert {"@tools/environment-parity", "@cassettes/empty-inputs"} <= files
    assert all(name.startswith(("@tools/", "@cassettes/")) for name in files)


def test_without_scenarios_the_catalogue_is_listed(in_process: Command, empty: Path) -> None:
    rows = in_process("list", "scenarios").out.splitlines()
    (row,) = (row for row in rows if row.startswith("@loops/circles "))
    assert row.endswith(
        "The same calls with the same results, without end (24 runs on 4 wires, needs tools)"
    )
    assert any(row.endswith("run, needs cancel)") or "needs cancel" in row for row in rows)
    run = in_process("run", "--target", REFERENCE)
    assert run.status == 2
    assert "there is no ./scenarios here; `harness list scenarios` lists" in run.err


def test_the_configured_catalogue_may_be_named(in_process: Command, empty: Path) -> None:
    (empty / "harness.toml").write_text('catalogue = ["@tools"]\n')
    rows = in_process("list", "scenarios").out.splitlines()
    assert [row.split()[0] for row in rows] == [
        "@tools/environment-defaults",
        "@tools/environment-parity",
        "@tools/results-that-steer-the-program",
        "@tools/what-the-tools-said",
    ]


def test_examples_and_pages_are_listed(in_process: Command) -> None:
    examples = in_process("list", "examples").out
    assert "@examples/naive_agent " in examples
    assert "@examples/node_agent/" not in examples
    assert "@docs/targets " in in_process("list", "docs").out


def test_a_scenario_is_explained_by_its_story(in_process: Command) -> None:
    text = in_process("explain", "@gateway/replay-spiral").out
    assert "A gateway starts a fresh agent for every inbound message" in text
    assert "incidents:37" in text
    assert "harness copy @gateway/replay-spiral" in text
    assert in_process("explain", "@docs/targets").out.startswith("# Targets")
    assert "@loops/circles\n" in in_process("explain", "@loops").out


@pytest.mark.parametrize(
    "words",
    [("run", "@lops", "--target", "naive"), ("list", "scenarios", "@lops"), ("explain", "@lops"),
     ("show", "@lops"), ("copy", "@lops"), ("judge", "@lops"), ("shrink", "@lops"),
     ("serve", "@lops"), ("import", "@lops", "--name", "x")],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_wrong_name_is_one_line(words: tuple[str, ...], in_process: Command) -> None:
    done = in_process(*words)
    assert done.status == 2
    assert done.err.startswith(
        "error: @lops: the package contains nothing of this name; did you mean"
    )
    assert done.err.count("\n") == 1


def test_a_scenario_that_was_not_played_is_not_shown(in_process: Command, empty: Path) -> None:
    done = in_process("show", "@loops/circles")
    assert done.status == 2
    assert "no run of this scenario here" in done.err


def test_a_folder_with_one_run_is_that_run(in_process: Command, empty: Path) -> None:
    play_first()
    assert in_process("show", ".harness").out == in_process("show", "@loops/circles").out != ""


@pytest.mark.usefixtures("empty")
def test_a_kept_run_of_the_catalogue_is_shrunk_from_its_scenario() -> None:
    play_first()
    (found,) = scenarios_of(Path(".harness/runs/circles"), (), None, NO_PROFILE, "")
    assert found.title == "The same calls with the same results, without end"


def test_a_test_plays_it_by_its_name(tmp_path: Path) -> None:
    play = Play((tmp_path,))
    (run,) = play("@loops/circles", "reference", variant="", stream=False)
    assert run.name == "circles"
    with pytest.raises(pytest.fail.Exception, match="did you mean '@loops/circles'"):
        play("@loops/circls", "reference")
    assert not list(tmp_path.iterdir())


def test_a_folder_of_ones_own_may_begin_with_the_mark(in_process: Command, talks: Path) -> None:
    (talks / "scenarios").rename(talks / "@loops")
    assert "greeting" in in_process("list", "scenarios", "./@loops").out


def test_the_summary_of_a_run_names_the_catalogue() -> None:
    asked = partial(Invocation, target="naive")
    for name in ("@loops/circles", "@loops"):
        again = _again(tuple(bundled(name)), asked, None)
        assert again is not None
        assert again("circles") == f"harness run {name} --only circles --target naive"
