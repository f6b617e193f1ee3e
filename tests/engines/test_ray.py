"""A Ray cluster of two nodes: the same campaign as here, with a worker killed in the middle."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.checks import names
from harness.core.values.errors import InputError
from harness.engines import Serial, ordered_map
from harness.fuzz.batch import Batch, Result, Task, lost, work
from harness.fuzz.campaign import begin, run
from harness.fuzz.campaign_journal import FILE, CampaignPlan
from harness.parts.loading import set_loaded
from harness.plugins import load_plugins
from tests.engines import work as works
from tests.engines.cluster import two_nodes

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]
TARGET = "tests.mutants.delivers_twice:agent"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster."""
    with two_nodes() as address:
        yield address


class Deadly(msgspec.Struct, frozen=True):
    """A task, and the file that is made by the worker that is killed in the middle of it."""

    task: Task
    dies: str = ""


def deadly(task: Deadly) -> Result:
    """Do a task; the first worker that does this one is killed half way."""
    result = work(task.task)
    if task.dies and not Path(task.dies).exists():
        Path(task.dies).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return result


class Killing:
    """An engine of which one worker is killed while it plays the chunk `number`."""

    def __init__(self, engine: Any, number: int, dies: Path) -> None:
        self._engine, self._number, self._dies = engine, number, dies

    def each(
        self,
        _: Any,
        source: Callable[[], Any],
        *,
        window: int,
        lost: Callable[[Any], Any],
        **more: Any,
    ) -> Iterator[Any]:
        """Work that kills."""

        def wrapped() -> Deadly | None:
            task = source()
            if task is None:
                return None
            chosen = isinstance(task, Batch) and task.number == self._number
            return Deadly(task, str(self._dies) if chosen else "")

        yield from self._engine.each(
            deadly, wrapped, window=window, lost=lambda task: lost(task.task)
        )


def _campaign(folder: Path, engine: Any) -> list[Result]:
    campaign, journal = begin(folder, CampaignPlan(target=TARGET, seed=5), names())
    results = list(run(campaign, engine, journal, folder, examples=32))
    journal.close()
    return results


def test_a_cluster_that_loses_a_worker_comes_to_what_one_process_does(
    address: str, tmp_path: Path
) -> None:
    from harness.engines.ray import Ray

    dies = tmp_path / "died"
    _campaign(tmp_path / "here", Serial())
    _campaign(tmp_path / "ray", Killing(Ray(address=address), 1, dies))
    assert dies.exists(), "the worker was killed"
    here, there = (_lines(tmp_path / name / FILE) for name in ("here", "ray"))
    assert here == there
    assert _files(tmp_path / "here") == _files(tmp_path / "ray") != {}


def _lines(path: Path) -> list[bytes]:
    """The lines of a journal; when a finding was made small differs, and what it is does not."""
    return sorted(path.read_bytes().splitlines())


def _files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (folder / "findings").iterdir()}


def test_a_task_that_ends_every_worker_is_given_up(address: str) -> None:
    from harness.engines.ray import Ray

    tasks = iter([works.Task(1), works.Task(2, always=True), works.Task(3)])
    engine = Ray(address=address)
    done = engine.each(works.square, lambda: next(tasks, None), window=8, lost=works.lost)
    assert [number for number, _ in done] == [1, -2, 9]


def test_parts_of_a_lost_task_may_be_done_by_the_same_engine(address: str) -> None:
    from harness.engines.ray import Ray

    engine = Ray(address=address)

    def one_by_one(tasks: tuple[works.Task, ...]) -> list[int]:
        left = iter(tasks)
        done = engine.each(works.square, lambda: next(left, None), window=4, lost=works.lost)
        return [number for number, _ in done]

    batches = [(works.Task(1), works.Task(2, always=True)), (works.Task(3),)]
    assert list(ordered_map(engine, squares, batches, one_by_one)) == [[1, -2], [9]]


def squares(tasks: tuple[works.Task, ...]) -> list[int]:
    """Several squares as one task."""
    return [works.square(task)[0] for task in tasks]


def test_an_error_of_the_work_is_raised(address: str) -> None:
    from harness.engines.ray import Ray

    tasks = [works.Task(1), works.Task(2, fails=True)]
    with pytest.raises(ValueError, match="2 fails"):
        list(ordered_map(Ray(address=address), works.square, tasks, works.lost))


def test_what_was_begun_is_ended_in_its_orderly_way(address: str, tmp_path: Path) -> None:
    from harness.engines.ray import Ray

    tasks = [tmp_path / "quick", tmp_path / "slow"]
    results = ordered_map(Ray(2, address), hold, tasks, given_up)
    assert next(results) == "quick"
    results.close()  # type: ignore[attr-defined]
    assert (tmp_path / "slow").read_text() == "ended"


def hold(path: Path) -> str:
    """Hang until interrupted; then say so in a file. The quick one returns once that hangs."""
    if path.name == "quick":
        while not path.with_name("slow").exists():
            os.sched_yield()
        return path.name
    path.touch()
    try:
        while True:
            os.sched_yield()
    finally:
        path.write_text("ended")


def given_up(path: Path) -> str:
    """What nothing here comes to."""
    raise AssertionError(f"{path} was given up")


def where(number: int) -> str:
    """The folder that a task is done in."""
    return os.getcwd()


def test_a_worker_works_in_the_folder_of_its_user(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.engines.ray import Ray

    monkeypatch.chdir(tmp_path)
    done = list(ordered_map(Ray(address=address), where, range(3), str))
    assert done == [str(tmp_path)] * 3


def test_a_worker_loads_the_plug_ins_of_its_user(address: str) -> None:
    from harness.engines.ray import Ray

    load_plugins("tests.fuzz.guest_parts")
    try:
        done = list(ordered_map(Ray(address=address), works.prefixes, range(3), lambda n: ()))
    finally:
        set_loaded(())
    assert done == [("guest_parts",)] * 3


def test_a_node_without_that_folder_is_named(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.engines.ray import Ray

    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rename(tmp_path / "elsewhere")
    monkeypatch.setattr(os, "getcwd", lambda: str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"--engine ray: the node .* cannot work in .*gone"):
        list(ordered_map(Ray(address=address), where, range(3), str))


def test_chunks_are_plain_data_and_what_is_lost_is_said() -> None:
    chunk = Batch(number=3, first=49, count=16, seed=1, target=TARGET)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(chunk), type=Batch) == chunk
    assert lost(chunk).doubts == ("examples 49 to 64 end the process that plays them",)
