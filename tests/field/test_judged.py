"""The rows that people wrote of red runs: they can be read, belong to a target, and are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from tests.field import judged
from tests.field.environments import targets
from tests.field.judged import Judged, told_of

HEADER = "run\tcode\tverdict\tsince\twhy\n"
TRUE = Judged("a.yaml", "valid_request.V4", "true", "request 2 has no result")
FALSE = Judged("b.yaml", "valid_request.V4", "false", "the result is there", "repaired")
DEBATABLE = Judged("c.yaml", "valid_request.V4", "debatable", "the API takes it")


def test_the_kept_rows_are_of_targets_and_say_why() -> None:
    for target, rows in judged.read().items():
        assert target in targets()
        assert all(row.why for row in rows)
        assert all(row.verdict == "false" for row in rows if row.since)


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ((), ""),
        ((TRUE,), "0/1"),
        ((TRUE, FALSE), "1/2 (1 repaired)"),
        ((TRUE, FALSE, DEBATABLE), "1/3 (1 repaired, 1 debatable)"),
    ],
)
def test_a_cell_counts_the_rows(rows: tuple[Judged, ...], cell: str) -> None:
    assert told_of("codex", {"codex": rows, "agno": (FALSE,)}) == cell


def test_a_file_is_read_by_its_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "JUDGED", tmp_path)
    path = tmp_path / "codex.tsv"
    path.write_text(HEADER + "b.yaml\tvalid_request.V4\tfalse\trepaired\tthe result is there\n")
    assert judged.read() == {"codex": (FALSE,)}
    path.write_text(HEADER + "b.yaml\tvalid_request.V4\twrong\t\tthe result is there\n")
    with pytest.raises(InputError, match=r"codex\.tsv:2"):
        judged.read()
