"""The installed SDKs still behave as `docs/wire-table.md` says they do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from harness.faults import faults
from tests.wire_table.measure import Measured, measured, package_of, versions
from tests.wire_table.row import Row
from tests.wire_table.rows import ROWS
from tests.wire_table.table import Column, documented, heads, name_of, table

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "wire-table.md"
STALE = "run `make wire-table` and read the difference"


def allowed(text: str, row: Row, version: str, pinned: str) -> list[Measured]:
    """What a version may do: as its column says, or as one of the columns if it has none.

    A version that constraints.txt pins needs its own column.
    """
    package = package_of(row)
    of_its_own = documented(text, row, f"{package} {version}")
    if of_its_own or f"{package}=={version}" in pinned.splitlines():
        return [of_its_own]
    return [documented(text, row, head) for head in heads(text, row)]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_the_installed_sdk_behaves_as_documented(row: Row) -> None:
    text, version = DOCUMENT.read_text("utf-8"), versions()[package_of(row)]
    known = allowed(text, row, version, (ROOT / "constraints.txt").read_text("utf-8"))
    assert {} not in known, f"{DOCUMENT.name} has no such column, or no such row: {STALE}"
    assert measured(row) in known, STALE


def test_a_version_without_a_column_may_behave_as_one_that_has_one() -> None:
    row = next(row for row in ROWS if row.wire == "anthropic" and len(row.transports) == 1)
    (transport,) = row.transports
    older = _column("1", **{row.kind: "RuntimeError"})
    text = table([_column("2")], [older])
    assert allowed(text, row, "1", "") == [{transport: "RuntimeError"}]
    assert allowed(text, row, "2", "") == [{transport: row.says}]
    assert allowed(text, row, "3", "") == [{transport: row.says}, {transport: "RuntimeError"}]
    assert allowed(text, row, "3", "anthropic==3\n") == [{}]


def test_every_row_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(map(name_of, ROWS)).items() if count > 1] == []


def test_rows_name_faults_that_there_are() -> None:
    assert {row.kind for row in ROWS if row.kind} <= set(faults())


def _column(version: str, **changed: str) -> Column:
    cells = {name_of(r): dict.fromkeys(r.transports, changed.get(r.kind, r.says)) for r in ROWS}
    return Column({"anthropic": version, "openai": version}, cells)


def test_a_version_that_differs_is_named() -> None:
    text = table([_column("1")], [_column("2", **{"sse.invalid_json": "KeyError"})])
    (line,) = [
        line
        for line in text.splitlines()
        if "**differs**" in line and "Fault" not in line and line.startswith("|")
    ]
    assert line.endswith("| `json.JSONDecodeError` | = | `KeyError` | **differs**: anthropic 2 |")


def test_the_name_of_an_http_library_is_no_difference() -> None:
    older = _column("1", **{"transport.reset_mid_stream": "httpx.ReadError"})
    chat = {n: c for n, c in _column("1").cells.items() if not n.startswith("anthropic")}
    text = table([msgspec.structs.replace(older, cells=older.cells | chat)])
    assert [line for line in text.splitlines() if line.startswith("|") and "differs" in line] == []


def test_transports_that_disagree_have_lines_of_their_own() -> None:
    row = next(row for row in ROWS if len(row.transports) == 2)
    column = _column("1")
    cells = {**column.cells, name_of(row): {"in process": "a", "loopback": "b"}}
    text = table([msgspec.structs.replace(column, cells=cells)])
    assert documented(text, row, "anthropic 1") == {"in process": "a", "loopback": "b"}


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_what_is_written_is_read_back(row: Row) -> None:
    text = table([_column("1")])
    package = package_of(row)
    assert documented(text, row, f"{package} 1") == dict.fromkeys(row.transports, row.says)
    assert documented(text, row, f"{package} 3") == {}
