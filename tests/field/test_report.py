"""The report: what is seen is counted, and only what a check by hand confirmed is told."""

from __future__ import annotations

import msgspec
import pytest

from harness.catalogue.field_findings import FieldFinding, field_finding
from harness.targets.known import known
from tests.catalogue.test_field_findings import COMPLETE
from tests.field import owners, report
from tests.field.judged import Judged
from tests.field.overview import overview
from tests.field.results import Seen, read
from tests.field.test_results import of_codex

SEEN = Seen("a", "fail", {"valid_request.V4": "defect"}, (("valid_request.V4",),))
CHANGED = Seen("b", "fail", {"no_progress_stop.same_call": "weakness"}, ((),))
TITLE = "A call is paid twice"


@pytest.fixture
def finding() -> FieldFinding:
    return field_finding(COMPLETE.replace("an-agent", "codex"), "codex-pays-twice")


def test_the_page_is_made_of_the_kept_results() -> None:
    assert report.PAGE.read_text("utf-8") == report.page(read()), (
        "python -m tests.field --kept writes it"
    )


def test_the_page_for_owners_says_what_the_data_says() -> None:
    text = owners.PAGE.read_text("utf-8")
    assert owners.page(text) == text, "python -m tests.field --kept writes it"
    assert all(f"| `{name}` |" in text for name in known())


def test_owners_are_told_how_many_findings_there_are(
    finding: FieldFinding, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert owners.found("codex-of-tomorrow") == "none yet"
    monkeypatch.setattr(owners, "field_findings", lambda: {"codex-pays-twice": finding})
    assert owners.found("codex") == "1: `field/codex`"


def test_a_cell_counts_runs_and_is_confirmed_by_a_finding_alone(finding: FieldFinding) -> None:
    found = of_codex(SEEN, CHANGED)
    bare, told = overview([found], {}, {}), overview([found], {"codex-pays-twice": finding}, {})
    assert bare.cell(found, "valid_request").confirmed == ()
    assert told.cell(found, "valid_request").confirmed == ("field/codex-pays-twice",)
    assert told.cell(found, "no_progress_stop").confirmed == ()
    assert told.cell(found, "valid_request").class_ == "defect"
    assert told.unconfirmed(found) == ["no_progress_stop.same_call"]
    assert [(target, seen.run) for target, seen in told.changed()] == [("codex", "b")]


def test_a_row_says_how_many_judged_runs_are_false() -> None:
    row = Judged("a", "valid_request.V4", "false", "the result is there")
    assert overview([found := of_codex(SEEN)], {}, {"codex": (row,)}).false(found) == "1/1"


def test_a_finding_of_an_older_release_confirms_no_cell(finding: FieldFinding) -> None:
    older = field_finding(f'{COMPLETE.replace("an-agent", "codex")}\nfixed_in = "2"', "x")
    told = overview([of_codex(SEEN)], {"x": older}, {})
    assert told.cell(told.results[0], "valid_request").confirmed == ()
    assert (list(told.current), list(told.older)) == ([], ["x"])


def test_what_a_target_did_not_play_is_named_with_the_reason() -> None:
    late = {"circles+stream": "it takes more than 240 s"}
    found = of_codex(SEEN)
    left = msgspec.structs.replace(found, head=msgspec.structs.replace(found.head, left_out=late))
    assert "- 1 of codex: it takes more than 240 s\n" in report.page([left])
    assert "played to their end:\n\n- none\n" in report.page([found])
    assert "- mini_swe plays files of its own: its one tool is bash" in report.page([found])


@pytest.mark.parametrize("made", [report.page, report.comparison])
def test_only_a_confirmed_finding_is_told(
    made: object, finding: FieldFinding, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(made)
    monkeypatch.setattr(report, "field_findings", dict)
    assert TITLE not in made([of_codex(SEEN, CHANGED)])
    monkeypatch.setattr(report, "field_findings", lambda: {"codex-pays-twice": finding})
    text = made([of_codex(SEEN, CHANGED)])
    assert TITLE in text
    assert finding.repeat.removeprefix("python ") in text
    assert "harness run scenarios/field/codex-pays-twice.yaml --target codex" in text


def test_the_comparison_loads_nothing_and_escapes_what_it_tells(
    finding: FieldFinding, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = field_finding(COMPLETE.replace("It pays twice.", "<script>x</script>"), "x")
    monkeypatch.setattr(report, "field_findings", lambda: {"x": hostile})
    text = report.comparison([of_codex(SEEN)])
    assert "<script>x" not in text
    assert "src=" not in text
    assert "<link" not in text
