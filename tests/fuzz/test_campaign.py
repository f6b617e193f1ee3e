"""Campaigns: one seed is one campaign, and nothing is lost wherever one is broken off."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from harness.checks import names
from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.core.values.profile import Profile
from harness.core.values.verdict import Finding
from harness.engines import Engine, Serial
from harness.engines.local import Local
from harness.files import load_scenarios
from harness.fuzz import batch as batches
from harness.fuzz import campaign as campaigns
from harness.fuzz import campaign_journal, findings
from harness.fuzz.batch import SIZE, Batch, BatchResult, play_all
from harness.fuzz.campaign import Campaign, begin, resume, run
from harness.fuzz.campaign_journal import FILE, CampaignPlan
from harness.fuzz.example import FOUND, draw, options_of, scenario_file
from harness.fuzz.findings import FOLDER, ShrunkFinding
from harness.fuzz.held_examples import CauseCount
from harness.runner import run as play
from harness.runner.needs import unplayable
from harness.targets.spec import resolve

TARGET = "tests.mutants.delivers_twice:agent?client=plain"
EXAMPLES = SIZE + 8
PLAN = CampaignPlan(target=TARGET, seed=11)


def whole(folder: Path, plan: CampaignPlan = PLAN, engine: Engine | None = None) -> Campaign:
    campaign, written = begin(folder, plan, names())
    for _ in run(campaign, engine or Serial(), written, folder, examples=EXAMPLES):
        pass
    written.close()
    return campaign


def result(folder: Path) -> tuple[list[bytes], dict[str, bytes]]:
    """What a campaign has come to: the lines of its journal, in any order, and its files."""
    lines = sorted((folder / FILE).read_bytes().splitlines())
    return lines, {p.name: p.read_bytes() for p in (folder / FOLDER).iterdir()}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that nothing has happened to."""
    folder = tmp_path_factory.mktemp("reference")
    campaign = whole(folder)
    assert campaign.examples == EXAMPLES
    return folder


def test_the_examples_of_a_cause_are_counted_over_batches_and_a_resume(tmp_path: Path) -> None:
    first, second = (Finding("outbound_once.twice", "x", (n,), "defect") for n in (1, 2))
    plan = msgspec.structs.replace(PLAN, profile=Profile(turn_ending_tools=("end",)))
    campaign, journal = begin(tmp_path, plan, names())
    for number, found in enumerate((first, second)):
        counts = (CauseCount(found, SIZE * number + 3, 2),)
        played = BatchResult(number=number, examples=SIZE, causes=counts)
        journal.write(campaign.take(played))
    journal.close()
    again, journal = resume(tmp_path, names())
    journal.close()
    assert again.causes == campaign.causes == {first.group: CauseCount(first, 3, 4)}
    task = again.task(None)
    assert isinstance(task, Batch)
    assert task.profile.turn_ending_tools == ("end",)


@pytest.mark.real
def test_every_finding_is_a_file_that_fails(reference: Path) -> None:
    files = sorted((reference / FOLDER).glob("*.yaml"))
    assert files
    for file in files:
        (scenario,) = load_scenarios(file)
        assert scenario.name == file.stem
        codes = {f.code for f in play(scenario, resolve(TARGET)).verdict.findings}
        assert scenario.title.removeprefix("Found by fuzzing: ") in codes


@pytest.mark.real
def test_the_defect_of_the_mutant_is_found_in_a_turn_without_a_fault(reference: Path) -> None:
    record = campaign_journal.read(reference)
    found = [x for x in record.lines if isinstance(x, ShrunkFinding) and not x.failure]
    assert {x.code for x in found} >= {"outbound_once.twice"}
    smallest = min((x.turns, x.faults) for x in found if x.code == "outbound_once.twice")
    assert smallest <= (1, 0)


@pytest.mark.real
def test_one_seed_is_one_campaign_and_another_one_is_another(
    reference: Path, tmp_path: Path
) -> None:
    whole(tmp_path / "same")
    whole(tmp_path / "other", CampaignPlan(target=TARGET, seed=12))
    assert result(tmp_path / "same") == result(reference)
    assert result(tmp_path / "other") != result(reference)


@pytest.mark.real
def test_the_runs_that_show_findings_are_on_disk_and_not_in_the_journal(
    reference: Path, tmp_path: Path
) -> None:
    record = campaign_journal.read(reference)
    taken = [line for line in record.lines if isinstance(line, BatchResult)]
    shown = {found.example for line in taken for found in line.found}
    assert shown
    assert not any(line.runs for line in taken)
    files = {scenario_file(reference, example) for example in shown}
    assert {*(reference / FOUND).glob("*/*.yaml")} == files
    for file in files:
        (scenario,) = load_scenarios(file)
        assert play(scenario, resolve(TARGET)).verdict.verdict == "fail"


def test_of_a_program_each_example_is_told_at_once_and_none_needs_virtual_time() -> None:
    program = resolve("process:true")
    options = options_of(program)
    random = Random(1)
    drawn = [draw((), random, options, target=program)[0] for _ in range(300)]
    assert any(scenario.faults for scenario in drawn)
    bare = [msgspec.structs.replace(one, tools={}, inbox=()) for one in drawn]
    assert {unplayable(one, program, "supervise") for one in bare} == {()}


@pytest.mark.real
def test_the_number_of_workers_changes_nothing(reference: Path, tmp_path: Path) -> None:
    whole(tmp_path / "two", engine=Local(2))
    assert result(tmp_path / "two") == result(reference)


def _ends_of_lines(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        at = data.index(b"\n", at) + 1
        yield at


def _gone_on_with(folder: Path, data: bytes) -> tuple[list[bytes], dict[str, bytes]]:
    """What a campaign comes to whose journal had come so far."""
    folder.mkdir()
    (folder / FILE).write_bytes(data)
    campaign, written = resume(folder, names())
    for _ in run(campaign, Serial(), written, folder, examples=EXAMPLES):
        pass
    written.close()
    return result(folder)


@pytest.mark.real
def test_a_campaign_goes_on_from_a_torn_line(reference: Path, tmp_path: Path) -> None:
    data = (reference / FILE).read_bytes()
    last = [*_ends_of_lines(data)][-2]
    torn = data[: (last + len(data)) // 2]
    assert _gone_on_with(tmp_path / "torn", torn) == result(reference)


@pytest.mark.real
@pytest.mark.nightly
def test_a_campaign_goes_on_from_wherever_its_journal_ends(reference: Path, tmp_path: Path) -> None:
    data = (reference / FILE).read_bytes()
    for cut in [*_ends_of_lines(data)][::3]:
        gone_on = _gone_on_with(tmp_path / str(cut), data[: cut + 20])
        assert gone_on == result(reference), f"broken off after {cut} bytes"


@pytest.mark.real
def test_a_campaign_that_is_over_can_be_gone_on_with(reference: Path, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes((reference / FILE).read_bytes())
    campaign, written = resume(tmp_path, names())
    lines = list(run(campaign, Serial(), written, tmp_path, examples=EXAMPLES + 3))
    written.close()
    assert [x.examples for x in lines if isinstance(x, BatchResult)] == [3]
    assert campaign.examples == EXAMPLES + 3


@pytest.mark.real
@pytest.mark.nightly
def test_time_that_is_over_ends_exploring_and_shrinking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, written = begin(tmp_path, PLAN, names())
    campaign.until_s = 1.0
    lines: list[object] = []
    with monkeypatch.context() as patch:
        for module in (campaigns, batches, findings):
            patch.setattr(module, "is_late", lambda until_s: bool(lines))
        for line in run(campaign, Serial(), written, tmp_path):
            lines.append(line)
    written.close()
    assert [type(line) for line in lines] == [BatchResult]
    assert campaign.examples == SIZE
    assert campaign.findings.waiting
    again, written = resume(tmp_path, names())
    small = list(run(again, Serial(), written, tmp_path, examples=SIZE))
    written.close()
    assert small
    assert not again.findings.waiting


def test_a_batch_and_a_shrinking_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    for module in (batches, findings):
        monkeypatch.setattr(module, "is_late", lambda until_s: next(clock) >= until_s)
    target = resolve(PLAN.target)
    batch = Batch(number=0, first=1, count=SIZE, seed=PLAN.seed, target=PLAN.target, until_s=3)
    assert play_all(batch, target).examples == 3
    asked: list[str] = []

    def keeps(scenario: Scenario) -> bool:
        asked.append(scenario.name)
        return True

    timely = findings._InTime(keeps, until_s=6.0)
    assert [timely(Scenario(name=str(n))) for n in range(4)] == [True, True, False, False]
    assert asked == ["0", "1"]
    assert timely.candidates == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "does not begin with a campaign"),
        (b'{"type":"campaign","target":"reference","seed":1,"v":99}\n', "version 99"),
        (b"nonsense\n", "no line of a campaign"),
    ],
)
def test_a_journal_that_is_none_is_refused(tmp_path: Path, text: bytes, said: str) -> None:
    (tmp_path / FILE).write_bytes(text)
    with pytest.raises(InputError, match=said):
        resume(tmp_path, names())


def test_a_folder_without_a_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no campaign\.jsonl"):
        resume(tmp_path, names())


@pytest.mark.parametrize("compare", [True, False])
def test_each_task_knows_whether_to_compare(tmp_path: Path, compare: bool) -> None:
    plan = CampaignPlan(target=TARGET, seed=1, compare=compare)
    begin(tmp_path, plan, names())[1].close()
    task = resume(tmp_path, names())[0].task(1)
    assert isinstance(task, Batch)
    assert task.compare is compare
