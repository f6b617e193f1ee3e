"""`harness diff`: two folders of histories, two targets, and what cannot be compared."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from harness.core.history.history import encode
from harness.core.values.verdict import NotApplicable, Verdict
from harness.runner.run_folder import write_unplayed
from tests.cli.conftest import Command, Harness
from tests.comparison import played
from tests.documents import ROOT
from tests.report.html.pages import unpacked

RUNS = ("circles", "circles/no-hits")


def kept(folder: str, of: str = "reference", names: tuple[str, ...] = RUNS) -> Path:
    """A folder of histories, as `harness run --out` leaves it."""
    for name in names:
        scenario, _, variant = name.partition("/")
        run = Path(folder, scenario, variant or "baseline")
        run.mkdir(parents=True)
        run.joinpath("history.jsonl").write_bytes(encode(played(name, of).events))
    return Path(folder)


def history_of(folder: str) -> Path:
    """The history of the first run of a folder."""
    return Path(folder, "circles/baseline/history.jsonl")


def replaced(folder: str, old: str, new: str) -> None:
    """Other words in the histories of a folder."""
    for path in Path(folder).rglob("history.jsonl"):
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def test_one_version_twice_differs_in_nothing(in_process: Command) -> None:
    kept("one"), kept("two")
    done = in_process("diff", "one", "two", "--fail-on", "any")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "2 runs compared: none differs"
    assert "new" not in done.out


def test_another_agent_is_told_by_what_it_does(in_process: Command) -> None:
    kept("one"), kept("two", "naive")
    done = in_process("diff", "one", "two", "--fail-on", "new")
    assert done.status == 1
    assert len(done.out.splitlines()) <= 24
    for words in (
        "A  one  (target harness.agent:agent)",
        "no_progress_stop.cycle  (weakness)  circles",
        "model → tool read",
        "says final: status ok → none",
        "model calls ",
        "2 runs compared: all differ",
    ):
        assert words in done.out
    back = in_process("diff", "two", "one", "--fail-on", "new")
    assert back.status == 0
    assert "gone in B" in back.out
    assert in_process("diff", "two", "one", "--fail-on", "any").status == 1


def test_details_name_each_run_that_differs(in_process: Command) -> None:
    kept("one"), kept("two", "naive")
    done = in_process("diff", "one", "two", "-v", "--only", "circles")
    for words in (
        "  A pass, failed_truthfully; B fail, completed",
        "  new  no_progress_stop.cycle  (weakness)",
        "    B main/tool#7 #",
        "  B two/circles/baseline/history.jsonl",
    ):
        assert words in done.out
    assert "no-hits" not in done.out


def test_json_lines(in_process: Command) -> None:
    kept("one"), kept("two", "naive")
    *runs, last = map(json.loads, in_process("diff", "one", "two", "--json").out.splitlines())
    assert [run["name"] for run in runs] == list(RUNS)
    first = runs[0]
    assert first["new"][0]["code"] == "no_progress_stop.cycle"
    assert first["first_call"]["b"]["call"] == "main/tool#7"
    assert first["a"]["figures"]["model_calls"] < first["b"]["figures"]["model_calls"]
    assert (last["compared"], last["differ"], last["not_compared"]) == (2, 2, [])


def test_markdown(in_process: Command) -> None:
    kept("one"), kept("two", "naive")
    done = in_process("diff", "one", "two", "--markdown", "-")
    assert done.out.startswith("## ✗ harness: one → two: 2 runs compared: all differ\n")
    assert "the first call that differs, A → B" in done.out
    assert "<details><summary>✗ circles</summary>" in done.out
    assert in_process("diff", "one", "two", "--markdown", "sum.md").out.startswith("A  one")
    assert Path("sum.md").read_text("utf-8").rstrip() == done.out.rstrip()


def test_a_page(in_process: Command) -> None:
    kept("one"), kept("two", "naive")
    done = in_process("diff", "one", "two", "--html", "diff.html")
    assert done.err == "page: diff.html\n"
    page = Path("diff.html").read_bytes()
    assert "<title>one → two: 2 runs compared: all differ" in page.decode()
    first, _ = unpacked(page, "index")["runs"]
    assert (first["name"], first["verdict"]) == ("circles", "fail")
    assert first["notes"][0] == "A pass, failed_truthfully; B fail, completed"


def test_the_other_media_are_those_of_every_verb(in_process: Command) -> None:
    kept("one"), kept("two", "naive")
    back = in_process("diff", "two", "one", "--junit", "-")
    cases = list(ElementTree.fromstring(back.out).iter("testcase"))
    assert [case.find("failure") for case in cases] == [None, None], "what is gone fails no run"
    there = in_process("diff", "one", "two", "--junit", "-")
    first, _ = ElementTree.fromstring(there.out).iter("testcase")
    failure = first.find("failure")
    assert failure is not None
    assert failure.get("type") == "no_progress_stop.cycle"
    assert "first call that differs: " in (failure.text or "")


def test_what_one_side_lacks_is_told(in_process: Command) -> None:
    kept("one"), kept("two", names=RUNS[:1])
    lack = NotApplicable("run", "needs cancel")
    write_unplayed(Path("two/circles/no-hits"), Verdict("not_applicable", not_applicable=(lack,)))
    kept("one", names=("circles/pictures",))
    done = in_process("diff", "one", "two")
    assert done.status == 0
    assert "not compared: 1 run (as circles/no-hits): not applicable in B: needs cancel" in done.out
    assert "not compared: 1 run (as circles/pictures): only in A" in done.out
    assert done.out.splitlines()[-1] == "1 run compared: none differs; 2 not compared"
    assert in_process("diff", "one", "two", "--fail-on", "any").status == 1


def test_a_folder_wins_over_a_target_of_its_name_and_that_is_told(in_process: Command) -> None:
    kept("reference"), kept("two", "naive")
    done = in_process("diff", "reference", "two")
    told = "note: reference is read as the folder here, not as the target"
    assert done.err == f"{told}; ./reference says so without this note\n"
    said = in_process("diff", "./reference", "two")
    assert (said.err, said.out) == ("", done.out.replace("A  reference", "A  ./reference"))


def test_two_histories_may_be_named(in_process: Command) -> None:
    kept("one"), kept("two", "naive")
    shutil.copy(history_of("one"), "before.jsonl")
    shutil.copy(history_of("two"), "after.jsonl")
    assert "1 run compared: it differs" in in_process("diff", "before.jsonl", "after.jsonl").out


def cut_in_a_line() -> None:
    data = history_of("two").read_bytes()
    history_of("two").write_bytes(data[: len(data) // 2])


def cut_between_lines() -> None:
    lines = history_of("two").read_text("utf-8").splitlines(keepends=True)
    history_of("two").write_text("".join(lines[:-1]), "utf-8")


def nothing() -> None:
    """Nothing is prepared."""


NO_SIDE = "neither a folder of histories nor a target: "
BAD: dict[str, tuple[Callable[[], object], str, str]] = {
    "a missing folder": (nothing, "one gone", f"gone: {NO_SIDE}"),
    "a misspelt target": (nothing, "referense naive", f"referense: {NO_SIDE}"),
    "a folder without histories": (
        lambda: Path("empty").mkdir(), "one empty", "empty: no history.jsonl below it; "),
    "the same folder": (nothing, "one one/../one", "one: both sides are the same histories"),
    "other runs": (
        lambda: kept("other", names=("circles/pictures",)), "two other",
        "two and other: no run can be compared: circles: only in A"),
    "other seeds": (
        lambda: replaced("two", '"seed":', '"seed":9'), "one two",
        "one and two: no run can be compared: circles: seed "),
    "cut in a line": (cut_in_a_line, "one two", "circles: B cannot be read: two/circles/"),
    "cut between lines": (cut_between_lines, "one two", "circles: B is incomplete: two/circ"),
    "another version": (
        lambda: replaced("two", '"v":2', '"v":9'), "one two",
        "a history of version 9; this loop-harness reads version 2"),
    "a run that stands twice": (
        lambda: (kept("more/x"), kept("more/y")), "one more",
        "more/y/circles/baseline: the run circles is here twice, also in more/x/"),
    "no such run": (nothing, "one two --only squares", "--only squares: no run of this name"),
    "scenarios for folders": (nothing, "one two scenarios", "scenarios: only for targets"),
    "a profile for a folder": (nothing, "one two --profile-b x", "--profile-b: two is a folder "),
    "a Python for a folder": (nothing, "one two --python-a x", "--python-a: one is a folder "),
    "no such Python": (nothing, "one my:agent --python-b no/py", "--python-b no/py: no program"),
    "no file": (lambda: Path("file").touch(), "one two --markdown file/x", "file/x: "),
    "two documents": (nothing, "one two --markdown - --json", "-: --json writes"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_compared_is_one_line(name: str, in_process: Command) -> None:
    kept("one", names=RUNS[:1]), kept("two", names=RUNS[:1])
    make, words, said = BAD[name]
    make()
    done = in_process("diff", *words.split())
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not Path(".harness").exists()


def test_a_history_that_cannot_be_used_leaves_a_doubt(in_process: Command) -> None:
    kept("one"), kept("two")
    cut_in_a_line()
    done = in_process("diff", "one", "two", "--fail-on", "any")
    assert done.status == 3
    assert "not compared: 1 run (as circles): B cannot be read: " in done.out


@pytest.mark.real
def test_a_target_and_a_mutant(harness: Harness) -> None:
    words = ("agents:good", "agents:wrong", "scenarios", "--fail-on", "new", "--out", "played")
    done = harness("diff", *words)
    assert done.returncode == 1, done.stderr
    assert "2 runs compared: all differ" in done.stdout
    again = harness("diff", "played/a", "played/b", "--json")
    *runs, last = map(json.loads, again.stdout.splitlines())
    assert all(run["new"] for run in runs)
    assert last["compared"] == 2
    mixed = harness("diff", "played/a", "agents:good", "scenarios", "--fail-on", "any")
    assert (mixed.returncode, mixed.stdout.splitlines()[-1]) == (
        0, "2 runs compared: none differs")  # fmt: skip


@pytest.mark.real
def test_a_folder_of_the_catalogue_twice_differs_in_nothing(in_process: Command) -> None:
    words = ("reference", "reference", "@tools", "--fail-on", "any", "--json")
    done = in_process("diff", *words)
    assert done.status == 0, done.out
    assert (
        "note: both sides are reference: only behaviour that varies between runs can differ"
        in done.err
    )
    *runs, last = map(json.loads, done.out.splitlines())
    assert last["compared"] == len(runs) > 5
    assert not any(run["differs"] for run in runs)


@pytest.mark.real
def test_a_program_twice_differs_in_nothing(harness: Harness) -> None:
    agent = f"process:node {ROOT}/examples/node_agent.mjs"
    words = (agent, agent, str(ROOT / "scenarios/loops/identical-failures.yaml"))
    done = harness("diff", *words, "--only", "identical-failures", "--fail-on", "any")
    assert done.returncode == 0, done.stdout


@pytest.mark.real
def test_a_scenario_that_cannot_be_played_ends_the_command(harness: Harness) -> None:
    done = harness("diff", "reference", "naive", "no/such.yaml")
    assert done.returncode == 2
    assert "error: no/such.yaml: " in done.stderr


def test_a_verdict_without_a_history_is_read(tmp_path: Path) -> None:
    from harness.cli.diff_sides import folder_side

    lacks = (NotApplicable("run", "needs cancel"), NotApplicable("run", "needs a store"))
    write_unplayed(tmp_path / "talk/slow@gemini", Verdict("not_applicable", not_applicable=lacks))
    tmp_path.joinpath("talk/odd").mkdir()
    tmp_path.joinpath("talk/odd/verdict.json").write_bytes(msgspec.json.encode(Verdict("pass")))
    runs = folder_side(str(tmp_path), ()).runs
    assert runs["talk/slow@gemini"].reason == "needs cancel; needs a store"
    assert runs["talk/odd"].reason == "it has a verdict but no history"
