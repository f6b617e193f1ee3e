"""What a place gives: the findings of its campaigns, each once, in folders and archives alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks import names
from harness.core.values.errors import InputError
from harness.core.values.finding_key import Cause
from harness.core.values.verdict import Finding
from harness.engines import Serial
from harness.files.regular_file import write_atomically
from harness.fuzz.batch import BatchResult
from harness.fuzz.campaign import begin, resume, run
from harness.fuzz.campaign_journal import FILE, CampaignPlan, Journal, Line
from harness.fuzz.example import RawFinding, scenario_file
from harness.fuzz.findings import FOLDER, ShrunkFinding
from harness.fuzz.replay import Replayed, TakenExample
from harness.fuzz.taken_examples import examples_of
from tests.fuzz.test_artifact import packed
from tests.fuzz.test_replay import FOUND, RIGHT, TEXT, TWICE

OTHER = Finding("effect_once.again", "runs twice", cause=Cause(tool="ping"))
SHRUNK = ShrunkFinding(finding=FOUND, example=3, name="twice-1", text=TEXT, turns=1)
PLAN = CampaignPlan(target="no.such.module:agent", seed=1)


def journal(folder: Path, *lines: Line) -> Path:
    folder.mkdir(parents=True)
    written = Journal(folder)
    for line in (PLAN, *lines):
        written.write(line)
    written.close()
    return folder


def batch_with(*found: Finding) -> BatchResult:
    raw = tuple(RawFinding(one, n, (1, 2)) for n, one in enumerate(found, start=3))
    return BatchResult(number=0, examples=16, found=raw, last=16)


def test_a_place_gives_what_was_shrunk_then_what_was_not(tmp_path: Path) -> None:
    folder = journal(tmp_path / "ci" / "7", batch_with(FOUND, OTHER), SHRUNK)
    write_atomically(scenario_file(folder, 4), TEXT.encode())
    wanted = (
        TakenExample("twice-1", TEXT, FOUND, is_shrunk=True),
        TakenExample("example-4", TEXT, OTHER),
    )
    assert examples_of(str(tmp_path / "ci")) == examples_of(str(folder)) == wanted
    files = {p.relative_to(tmp_path).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    archive = tmp_path / "ci.zip"
    archive.write_bytes(packed({name: path.read_bytes() for name, path in files.items()}))
    assert examples_of(str(archive)) == wanted


def test_a_finding_of_two_campaigns_is_taken_up_once(tmp_path: Path) -> None:
    journal(tmp_path / "a", batch_with(FOUND), SHRUNK)
    journal(tmp_path / "b", Replayed(number=0, name="x", state="fails", shown=SHRUNK))
    assert [taken.name for taken in examples_of(str(tmp_path))] == ["twice-1"]


def test_what_did_not_repeat_and_what_has_no_file_is_left(tmp_path: Path) -> None:
    failed = ShrunkFinding(finding=FOUND, example=3, failure="it does not repeat")
    journal(tmp_path / "a", batch_with(FOUND, OTHER), failed)
    assert examples_of(str(tmp_path)) == ()


@pytest.mark.parametrize("torn", [b"\x80\x04\x95cposix\nsystem\n", b'{"type":"other"}\n', b"\n"])
def test_a_journal_that_cannot_be_read_is_an_error_of_the_user(torn: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(torn)
    with pytest.raises(InputError, match=FILE):
        examples_of(str(tmp_path))


def test_a_database_of_hypothesis_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "ab12").write_bytes(b"\x01\x02")
    with pytest.raises(InputError, match="database of Hypothesis"):
        examples_of(str(tmp_path))


@pytest.mark.parametrize(("target", "state"), [(TWICE, "fails"), (RIGHT, "fixed")])
def test_a_campaign_plays_them_first_and_a_resume_goes_on(
    target: str, state: str, tmp_path: Path
) -> None:
    place = journal(tmp_path / "ci", SHRUNK)
    plan = CampaignPlan(target=target, seed=1)
    folder = tmp_path / "desk"
    campaign, written = begin(folder, plan, names(), examples_of(str(place)))
    written.close()
    campaign, written = resume(folder, names())
    (result,) = run(campaign, Serial(), written, folder, examples=0)
    written.close()
    assert isinstance(result, Replayed)
    assert result.state == state
    assert campaign.taken.counts()[result.state] == 1
    assert campaign.has_played
    assert campaign.new_of(result) is result.shown
    assert len([*folder.glob(f"{FOLDER}/*.yaml")]) == len(campaign.findings.kept)
    again, written = resume(folder, names())
    assert again.task(0) is None
    written.close()
    assert again.taken.counts() == campaign.taken.counts()
