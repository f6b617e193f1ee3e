"""The texts for owners: complete, of the data, and free of the harness."""

from __future__ import annotations

from functools import cache

import pytest

from harness.catalogue import field_findings
from harness.catalogue.field_findings import field_finding
from tests.catalogue.test_field_findings import COMPLETE
from tests.field import upstream_reports
from tests.field.environments import version_of
from tests.field.upstream_reports import CHECKS, FOLDER

TOLD = [name for name, row in field_findings().items() if upstream_reports.is_told(row)]


pages = cache(upstream_reports.pages)  # 0.7 s


def test_the_folder_holds_the_texts_that_the_data_makes() -> None:
    held = {path.stem: path.read_text("utf-8") for path in FOLDER.iterdir()}
    assert held == pages(), "python -m tests.field --kept writes them"
    assert sorted(held) == TOLD != []


def test_a_weakness_and_a_defect_of_an_older_release_are_not_sent() -> None:
    finding = field_finding(COMPLETE, "x")
    assert upstream_reports.is_told(finding)
    assert not upstream_reports.is_told(field_finding(f'{COMPLETE}\nfixed_in = "2"', "x"))
    weak = COMPLETE.replace('class = "defect"', 'class = "weakness"')
    assert not upstream_reports.is_told(field_finding(weak, "x"))


@pytest.mark.parametrize("name", TOLD)
def test_a_text_says_all_that_its_owners_need(name: str) -> None:
    text, row = pages()[name], field_findings()[name]
    assert text.split("\n# ", 1)[1].startswith(f"{row.title}\n")
    for part in (row.version, row.expected.strip(), row.observed.strip(), row.issue):
        assert part in text
    assert any(f"=={row.version}'" in step or step.endswith(f"@{row.version}")
               for step in upstream_reports.steps(row))  # fmt: skip
    assert "harness" not in upstream_reports.program_of(row).read_text("utf-8")


def test_a_module_that_a_module_imports_stands_beside_the_program_too() -> None:
    program = CHECKS / "codex-name-sent-back.py"
    assert upstream_reports.modules_beside(program) == ["bare_server.py", "command_line.py"]
    assert version_of("codex")[0] in "\n".join(pages()["codex-name-sent-back"].split())
