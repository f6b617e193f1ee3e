"""Faults and kills of the files that an agent writes itself."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.agents import careful_async
from harness.core.history.events import Killed
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.faults import arm
from harness.providers import by_name
from harness.runner import Run, run
from harness.runner.own_files import OPEN_MOST, OwnFiles
from harness.stores.store_writes import MOMENTS
from harness.targets import of_callable
from tests.runner import line_store
from tests.runner.programs import program
from tests.scenarios.all_runs import named
from tests.sweep.kill_points import every_own_kill_point

KILLED, GARBLED = "persistence.killed_at_own_write", "persistence.own_line_garbled"
WRITES = 9
"""A line for each of three messages, one for each reply, and one for each delivery."""


def _talk(fault: FaultSpec, turns: int = 3) -> Scenario:
    return Scenario(
        name="talk",
        policy="open",
        inbox=tuple(InboxItem(id=f"m{n}", text=f"Here is fact {n}.") for n in range(turns)),
        script=tuple(Turn(say=f"I know fact {n}.") for n in range(turns)),
        faults=(fault,),
        limits=Limits.unreached(virtual_s=1e6),
    )


def _killed(agent: Callable[[Any], None] | str, kind: str, n: int, **settings: str) -> Run:
    fault = FaultSpec(kind=kind, on="store:file", when=n, settings=settings)
    return run(_talk(fault), agent, store="jsonl:talk.jsonl")


def _places(done: Run) -> list[str]:
    return [event.at for event in done.history.events if isinstance(event, Killed)]


@pytest.mark.parametrize("point", ["before", "inside", "after"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_an_agent_that_skips_a_torn_line_passes_a_kill_at_each_write(n: int, point: str) -> None:
    done = _killed(line_store.skips, KILLED, n, point=point)
    left = {"before": "undone", "inside": "torn talk.jsonl", "after": "kept"}[point]
    assert _places(done) == [f"files#{n}:{left}"]
    assert done.verdict.verdict == "pass", done.verdict.findings


@pytest.mark.real
@pytest.mark.parametrize("kind", [KILLED, GARBLED])
def test_each_write_is_hit_and_only_the_agent_that_copes_passes(kind: str) -> None:
    for n in range(2, WRITES + 1):
        assert _killed(line_store.skips, kind, n).verdict.verdict == "pass"
        assert _killed(line_store.crashes, kind, n).verdict.failing[0].code == "target.crashed"
        assert _killed(line_store.forgets, kind, n).verdict.verdict == "fail"


@pytest.mark.parametrize("variant", ["", "/torn"])
@pytest.mark.parametrize(
    ("agent", "code"),
    [
        (line_store.skips, None),
        (line_store.renames, None),
        (line_store.crashes, "target.crashed"),
        (line_store.stops, "reload_equivalence.duplicate"),
        (line_store.forgets, "reload_equivalence"),
    ],
)
def test_the_catalogue_tells_readers_of_a_bad_line_apart(
    agent: Callable[[Any], None], code: str | None, variant: str
) -> None:
    scenario = named(f"own-file-left-half-written{variant}")
    found = run(scenario, agent, store="jsonl:talk.jsonl").verdict.failing
    assert bool(found) == bool(code), found
    assert not code or found[0].code.startswith(code)


@pytest.mark.parametrize("repairs", [True, False])
def test_a_row_that_is_joined_to_half_a_line_is_missed_after_the_next_kill(
    repairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not repairs:
        monkeypatch.setattr(careful_async.Journal, "replace", lambda self, path, rows: rows)
    scenario = named("own-file-left-half-written/torn-beside-a-call@openai-chat")
    done = run(scenario, of_callable(careful_async.agent), store="jsonl:session.jsonl")
    assert _places(done)[0].endswith(":torn session.jsonl")
    codes = [] if repairs else ["resume_prefix.forgotten"]
    assert [finding.code for finding in done.verdict.failing] == codes


@pytest.mark.real
def test_a_sweep_kills_before_inside_and_after_each_write() -> None:
    talk = msgspec.structs.replace(_talk(FaultSpec(kind=KILLED)), faults=())
    agent = of_callable(line_store.skips)
    swept = list(every_own_kill_point(talk, agent, store="jsonl:talk.jsonl"))
    every = [(n, moment) for n in range(1, WRITES + 1) for moment in MOMENTS]
    assert [(p.write, p.moment) for p, _ in swept] == [p for p in every if p != (1, "inside")]
    assert {done.verdict.verdict for _, done in swept} == {"pass"}


def test_a_crash_on_half_a_line_names_the_file_first() -> None:
    finding = _killed(line_store.crashes, KILLED, 5).verdict.failing[0]
    assert finding.message.startswith("the target crashed at ")
    assert "with half a line in talk.jsonl: JSONDecodeError" in finding.message


def test_an_agent_that_writes_no_file_is_not_asked() -> None:
    done = _killed("reference", KILLED, 1)
    assert done.verdict.not_applicable[0].check == "run"
    assert _places(done) == []


@pytest.mark.real
def test_a_program_is_killed_inside_a_write(tmp_path: Path) -> None:
    done = run(_talk(FaultSpec(kind=KILLED, on="store:file", when=3)), program(tmp_path, KEEPS))
    assert _places(done) == ["files#3:torn talk.txt"]
    told = [json.loads(row.request.text) for row in done.history.trace.sendings]
    assert told == [[], [], ["Here is fact 0.", "Here is fact 1.", "Here is"]]


@pytest.mark.real
def test_a_file_grows_over_two_hundred_turns_and_is_torn_at_the_end() -> None:
    fault = FaultSpec(kind=KILLED, on="store:file", when=598)
    done = run(_talk(fault, 200), line_store.skips, store="jsonl:talk.jsonl")
    assert _places(done) == ["files#598:torn talk.jsonl"]
    assert done.verdict.verdict == "pass", done.verdict.findings


KEEPS = """
path = os.environ["HARNESS_SESSION_DIR"] + "/talk.txt"
lines = open(path).read().split("\\n") if os.path.exists(path) else []
for message in inbox():
    with open(path, "a") as file: file.write(message["text"] + "\\n")
    ask(message["text"])
    say(message, json.dumps(lines))
"""


def _watch(folder: Path) -> Any:
    return OwnFiles(SimpleNamespace(file_kill=("", "", 0)), (folder,))  # type: ignore[arg-type]


def _damaged(watch: Any, left: str, number: int = 0) -> None:
    watch._transition.file_kill = "files#1", left, number
    watch.damage()


def test_a_kill_at_a_write_comes_before_the_calls_of_other_threads_too() -> None:
    kill = FaultSpec(
        kind="persistence.killed_at_own_write", on="store:file", settings={"point": "after"}
    )
    wire, script = by_name("anthropic"), TurnScript((), Draws(0))
    armed = arm(kill, wire="anthropic", refusals=wire.refusals())
    scenario = Scenario(name="two-threads", faults=(kill,))
    transition = Transition(scenario, wire, script, History(), faults=[armed])
    looks = iter([["append"], ["rewrite"]])
    transition.files = lambda: next(looks)
    plan = transition.file_write(0)
    due = transition.file_kill
    assert plan
    assert transition.file_write(0) == plan  # a call of another thread, before the kill
    assert (transition.file_kill, next(looks)) == (due, ["rewrite"])


LINES = st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=4)


@given(LINES, st.text(min_size=1, max_size=30))
def test_a_torn_append_leaves_the_lines_before_and_part_of_the_last(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], last: str
) -> None:
    path = tmp_path_factory.mktemp("own") / "s.jsonl"
    before = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    path.write_bytes(before)
    watch, row = _watch(path.parent), json.dumps(last).encode() + b"\n"
    with path.open("ab") as file:
        file.write(row)
    assert watch.written() == ["append"]
    _damaged(watch, "torn")
    left = path.read_bytes()
    assert left.startswith(before)
    assert row.startswith(left[len(before) :])
    assert len(before) < len(left) < len(before + row) - 1


def test_what_two_files_hold_follows_the_order_of_their_writes(tmp_path: Path) -> None:
    names = ("rows.jsonl", "marks.jsonl")
    for number, left in enumerate(("torn", "torn", "undone")):
        folder = tmp_path / f"{number}{left}"
        folder.mkdir()
        for name in names:
            (folder / name).write_text('"one"\n')
        watch = _watch(folder)
        for name in names:
            _append(folder / name, '"two"\n')
        assert watch.written() == ["append", "append"]
        _damaged(watch, left, number % 2)
        held = ["".join((folder / name).read_text().split()) for name in names]
        assert held == [['"one""t', '"one"'], ['"one""two"', '"one""t'], ['"one"', '"one"']][number]


def _append(path: Path, text: str) -> None:
    """Append at a later tick of the file system's clock."""
    _next_tick(path.parent)
    with path.open("a") as file:
        file.write(text)


def _next_tick(folder: Path) -> None:
    """Wait until the file system's clock, which ticks every few milliseconds, has moved."""
    clock = folder / "clock"
    clock.touch()
    before = clock.stat().st_mtime_ns
    while clock.stat().st_mtime_ns == before:
        clock.touch()
    clock.unlink()


def _names(watch: Any) -> list[list[str]]:
    watch.written()
    return [[path.name for path in paths] for paths in watch._writes]


@pytest.mark.parametrize("is_between", [False, True])
def test_a_renamed_file_is_written_no_sooner_than_it_got_its_name(
    tmp_path: Path, is_between: bool
) -> None:
    """A kill before the renaming leaves the line that was appended before it, and not the file."""
    for name in ("s.json", "marks"):
        (tmp_path / name).write_text("[1]\n")
    watch = _watch(tmp_path)
    (tmp_path / "new").write_text("[1, 2]\n")
    if is_between:
        _append(tmp_path / "marks", "two\n")
    _next_tick(tmp_path)
    (tmp_path / "new").replace(tmp_path / "s.json")
    if not is_between:
        _append(tmp_path / "marks", "two\n")
    assert _names(watch) == ([["marks", "s.json"]] if is_between else [["s.json"], ["marks"]])
    assert watch.written() == []


def test_a_file_that_is_gone_tells_no_order(tmp_path: Path) -> None:
    for name in ("lock", "rows"):
        (tmp_path / name).write_text("one\n")
    watch = _watch(tmp_path)
    (tmp_path / "lock").unlink()
    _append(tmp_path / "rows", "two\n")
    assert watch.written() == ["replace"]


def test_one_tick_tells_no_order_so_nothing_is_cut(tmp_path: Path) -> None:
    watch = _watch(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_text("x\n")
    watch.written()
    for name in ("a", "b"):
        (tmp_path / name).write_text("x\ny\n")
        os.utime(tmp_path / name, ns=(7, 7))
    assert watch.written() == ["replace"]


def test_a_file_that_comes_by_renaming_and_a_database_are_whole_or_not_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "s.json").write_text("[1]")
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t (v)")
        watch = _watch(tmp_path)
        (tmp_path / "new").write_text("[1, 2]")
        (tmp_path / "new").replace(tmp_path / "s.json")
        assert watch.written() == ["replace"]
        db.execute("INSERT INTO t VALUES (1)")
        db.commit()
        assert watch.written() == ["replace"]
        _damaged(watch, "undone")
    assert (tmp_path / "s.json").read_text() == "[1, 2]"
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        assert db.execute("SELECT count(*) FROM t").fetchone() == (0,)


@pytest.mark.parametrize("beside", ["s.tmp", "s.tmp{}"])
@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_a_file_that_was_replaced_several_times_between_two_looks_was_not_appended_to(
    tmp_path: Path, beside: str, times: int
) -> None:
    path, text = tmp_path / "s.jsonl", "[1]\n"
    path.write_text(text)
    watch = _watch(tmp_path)
    for _ in range(3):
        for number in range(times):
            text += "[2]\n"
            new = tmp_path / beside.format(number)
            new.write_text(text)
            new.replace(path)
        assert watch.written() == ["replace"]


def test_a_touched_file_is_not_cut(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("4711")
    watch = _watch(tmp_path)
    os.utime(tmp_path / "lock", ns=(7, 7))
    assert watch.written() == ["replace"]


def test_of_many_files_the_newest_are_kept_open_and_let_go_with_the_watch(tmp_path: Path) -> None:
    for number in range(OPEN_MOST + 9):
        (tmp_path / f"{number}.txt").write_text("one\n")
        os.utime(tmp_path / f"{number}.txt", ns=(number, number))
    assert _open_in(tmp_path) == 0
    watch = _watch(tmp_path)
    assert _open_in(tmp_path) == OPEN_MOST
    with (tmp_path / "20.txt").open("a") as file:
        file.write("two\n")
    assert watch.written() == ["append"]
    del watch
    assert _open_in(tmp_path) == 0


def _open_in(folder: Path) -> int:
    """Only the files of this folder: garbage of other tests may be closed at any moment."""
    opened = [Path("/dev/fd", name) for name in os.listdir("/dev/fd")]
    return sum(one.resolve().parent == folder for one in opened if one.exists())
