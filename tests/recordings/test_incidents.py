"""The table of `docs/incidents.md` is true; where the corpus is not available, its other rows
are."""

from __future__ import annotations

import pytest

from tests.recordings.incidents import CORPUS, DOCUMENT, INCIDENTS, MARK, Incident, row_of

ROWS = DOCUMENT.read_text("utf-8").partition(MARK)[2].splitlines()[3:]
MADE = [incident for incident in INCIDENTS if incident.make is not None]
RECORDED = [incident for incident in INCIDENTS if incident.make is None]


def _holds(incident: Incident, shrinks: bool = False) -> None:
    row = row_of(incident, shrinks)
    *cells, shrunk = ROWS[INCIDENTS.index(incident)].removeprefix("| ")[:-2].split(" | ")
    assert (tuple(cells), bool(shrunk.strip())) == (row.cells, "found again" in row.cells[4])
    assert not shrinks or row.shrunk == shrunk.strip()


@pytest.mark.real
@pytest.mark.parametrize("incident", MADE, ids=lambda one: f"{one.format} {one.code}")
def test_a_recording_that_is_made_here(incident: Incident) -> None:
    _holds(incident)


@pytest.mark.real
@pytest.mark.parametrize("incident", RECORDED, ids=lambda one: f"{one.format} {one.code}")
def test_a_recording_of_the_corpus(incident: Incident) -> None:
    if not CORPUS.is_dir():
        pytest.skip("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder")
    _holds(incident)


@pytest.mark.real
def test_what_shrinking_leaves() -> None:
    """Two rows stand for all: shrinking plays each some dozens of times."""
    for incident in MADE[:1] + MADE[2:3]:
        _holds(incident, shrinks=True)


def test_ten_recordings_show_their_incident_again_and_the_reference_agent_has_none() -> None:
    assert len(ROWS) == len(INCIDENTS)
    again = [row for row in ROWS if "| found again" in row]
    assert len(again) >= 10
    assert len({row.split("|")[1] for row in again}) >= 10
    assert all("| pass |" in row for row in ROWS)
    assert all("| lost: " in row for row in ROWS if row not in again)
