"""docs/outputs.md names each key of the JSON Lines, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from harness.core.values.verdict import Verdict
from harness.report import diff_screen
from harness.report.media.json_lines import baseline_line, judged_line, last_line, run_line
from harness.verdicts.baseline import BaselineChange
from harness.verdicts.reach import Reach
from harness.verdicts.result import Lack, of_transcript
from harness.verdicts.run_diff import Diff
from tests.report.fabricated import RUNS, run_diff

PAGE = (Path(__file__).parents[2] / "docs/outputs.md").read_text("utf-8")
RUN = json.loads(run_line(RUNS[2]))
OBJECTS: dict[str, dict[str, Any]] = {
    "run": RUN,
    "finding": RUN["findings"][0],
    "last": json.loads(last_line([Lack("cancel", "unused", "needs cancel", 3)], 2, Reach(runs=1))),
    "reach": cast(dict[str, Any], Reach(runs=1).as_json()),
    "baseline": json.loads(baseline_line(BaselineChange("b.tsv", 0, (), (), written=False))),
    "diff": json.loads(diff_screen.run_line(run_diff())),
    "diff_last": json.loads(diff_screen.last_line(Diff("one", "two", (run_diff(),)))),
    "transcript": json.loads(
        judged_line(of_transcript("f", "t", "har", Verdict("pass"), counts={}))
    ),
}
TYPES = {
    "string": str, "integer": int, "boolean": bool, "object": dict,
    "list of strings": list, "list of integers": list, "list of objects": list,
    "list of findings": list,
}  # fmt: skip


def rows(name: str) -> dict[str, str]:
    """The keys of a table of the page with their types."""
    table = PAGE.split(f"<!-- keys {name} -->")[1].split("\n#")[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([a-z ]+) \| \S", table, re.MULTILINE))


@pytest.mark.parametrize("name", OBJECTS)
def test_the_page_names_the_keys_in_their_order_with_their_types(name: str) -> None:
    said = OBJECTS[name]
    assert list(rows(name)) == list(said)
    for key, kind in rows(name).items():
        assert type(said[key]) is TYPES[kind]


def test_the_version_is_that_of_the_page() -> None:
    apart = ("finding", "reach")
    assert {said["version"] for name, said in OBJECTS.items() if name not in apart} == {1}
