"""`harness copy` puts parts of the package into the user's folder, whole, and replaces nothing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from harness.files.bundle import named_path
from tests.cli.talks import Command


def files(folder: Path) -> set[str]:
    """The files below a folder."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_a_scenario_goes_where_the_pages_name_it(in_process: Command, empty: Path) -> None:
    done = in_process("copy", "@loops/circles")
    assert done.out.splitlines() == [
        "wrote scenarios/loops/circles.yaml",
        "next: harness run scenarios/loops/circles.yaml --target reference",
    ]
    assert files(empty) == {"scenarios/loops/circles.yaml"}
    source = named_path("@loops/circles")
    assert (empty / "scenarios/loops/circles.yaml").read_bytes() == source.read_bytes()


def test_it_brings_the_files_that_it_names(in_process: Command, empty: Path) -> None:
    done = in_process("copy", "@compaction/cut-in-half", "mine")
    assert files(empty) == {"mine/cut-in-half.yaml", "mine/oslo.jsonl"}
    words = shlex.split(done.out.splitlines()[-1].removeprefix("next: harness "))
    assert in_process(*words, "--only", "cut-in-half", "--dry-run").status == 0


def test_an_example_brings_the_modules_that_it_imports(in_process: Command, empty: Path) -> None:
    done = in_process("copy", "@examples/agents/careful_sync")
    assert files(empty) == {
        f"examples/agents/{name}"
        for name in ("careful_sync.py", "careful_sync.toml", "anthropic_rows.py")
    }
    assert (
        "next: harness run @loops/circles --target examples.agents.careful_sync:agent" in done.out
    )
    assert "so copy them without DEST" not in done.err
    elsewhere = in_process("copy", "@examples/agents/careful_sync", "other")
    assert "so copy them without DEST" in elsewhere.err


@pytest.mark.parametrize(
    ("name", "file", "said"),
    [
        ("@loops", "scenarios/loops/circles.yaml", "run scenarios/loops --target reference"),
        ("@all", "scenarios/loops/circles.yaml", "run scenarios --target reference"),
        ("@examples/naive_agent", "examples/naive_agent.py",
         "run @loops/circles --target examples.naive_agent:agent"),
        ("@examples/node_agent", "examples/node_agent/careful.mjs",
         "run @loops/circles --target 'process:node examples/node_agent.mjs'"),
        ("@cassettes/replay-spiral", "cassettes/replay-spiral.yaml",
         "run cassettes/replay-spiral.yaml --target reference"),
        ("@cassettes/incidents/replay-spiral", "cassettes/incidents/replay-spiral.history.jsonl",
         "judge cassettes/incidents/replay-spiral.history.jsonl"),
        ("@docs", "docs/targets.md", ""),
    ],
)  # fmt: skip
def test_the_next_command_is_told(
    name: str, file: str, said: str, in_process: Command, empty: Path
) -> None:
    last = in_process("copy", name).out.splitlines()[-1]
    assert (empty / file).is_file()
    assert last == f"next: harness {said}" if said else last.startswith("wrote ")


def test_the_next_command_leaves_a_configured_target_out(in_process: Command, empty: Path) -> None:
    (empty / "harness.toml").write_text('target = "reference"\n')
    assert in_process("copy", "@loops/circles").out.endswith("run scenarios/loops/circles.yaml\n")


def test_what_is_there_and_differs_is_not_replaced(in_process: Command, empty: Path) -> None:
    in_process("copy", "@compaction/cut-in-half", "mine")
    changed = empty / "mine/oslo.jsonl"
    changed.write_text("changed")
    (empty / "mine/cut-in-half.yaml").unlink()
    done = in_process("copy", "@compaction/cut-in-half", "mine")
    assert done.status == 2
    assert "mine/oslo.jsonl: exists and differs: --force replaces it" in done.err
    assert files(empty) == {"mine/oslo.jsonl"}
    assert changed.read_text() == "changed"
    forced = in_process("copy", "@compaction/cut-in-half", "mine", "--force", "--json")
    assert [json.loads(row)["is_new"] for row in forced.out.splitlines()] == [True, True]
    again = in_process("copy", "@compaction/cut-in-half", "mine", "--json")
    assert [json.loads(row) for row in again.out.splitlines()] == [
        {"file": "mine/cut-in-half.yaml", "from": "@compaction/cut-in-half", "is_new": False},
        {"file": "mine/oslo.jsonl", "from": "@compaction/oslo", "is_new": False},
    ]


def test_a_file_in_the_place_of_the_folder_is_an_error(in_process: Command, empty: Path) -> None:
    (empty / "scenarios").write_text("")
    for dest in ((), ("scenarios",)):
        done = in_process("copy", "@loops/circles", *dest)
        assert done.status == 2
        assert done.err.startswith("error: scenarios")
        assert done.err.count("\n") == 1


def test_only_names_of_the_bundle_are_copied(in_process: Command, empty: Path) -> None:
    done = in_process("copy", "loops")
    assert (done.status, done.err) == (
        2,
        "error: loops: a name begins with @, such as @loops/circles\n",
    )
