"""What the first page has of a run: all that the matrix and the filters ask for."""

from __future__ import annotations

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from harness.report.html.page_runs import page_run
from tests.report.fabricated import RUNS, summary


def test_the_runs_of_the_first_page(snapshot: SnapshotAssertion) -> None:
    assert [msgspec.to_builtins(page_run(run)) for run in RUNS] == snapshot


@pytest.mark.parametrize(
    ("name", "wire", "stream"),
    [
        ("a", "anthropic", False),
        ("a/b@openai-chat+stream", "openai-chat", True),
        ("a@b\nc@gemini", "gemini", False),
        ("a+stream", "anthropic", True),
    ],
)
def test_the_name_tells_the_wire(name: str, wire: str, stream: bool) -> None:
    shown = page_run(summary(name, RUNS[0].verdict))
    assert (shown.wire, shown.stream) == (wire, stream)


@pytest.mark.parametrize(
    ("file", "folder"), [("scenarios/loops/a.yaml", "scenarios/loops"), ("a.yaml", ""), ("", "")]
)
def test_the_folder_is_that_of_the_file(file: str, folder: str) -> None:
    run = msgspec.structs.replace(RUNS[0], file=file)
    assert page_run(run).folder == folder
