"""A text for each confirmed defect, as its owners can be sent it: `docs/field/reports`.

It holds what somebody needs who does not know the harness: title, versions, what is expected and
seen, why, and the program that shows it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from harness.catalogue import field_findings
from harness.catalogue.field_findings import GENERAL, FieldFinding
from tests.field.environments import ROOT, is_same, targets, version_of
from tests.field.templates import template

FOLDER = ROOT / "docs" / "field" / "reports"
CHECKS = ROOT / "docs" / "field" / "checks"


def write() -> None:
    """Write the text of each defect, and remove those of findings that are no longer told."""
    made = pages()
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.stem not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / f"{name}.md").write_text(text, "utf-8")


def pages() -> dict[str, str]:
    """The texts by the name of their finding: of the defects that the current release has."""
    page = template("upstream_report.md.jinja")
    return {
        name: page.render(
            name=name, row=row, GENERAL=GENERAL, package=version_of(_name(row))[0],
            program=program_of(row).read_text("utf-8"), steps=steps(row),
            beside=[f"`{module}`" for module in modules_beside(program_of(row))],
        )
        for name, row in field_findings().items() if is_told(row)
    }  # fmt: skip


def is_told(row: FieldFinding) -> bool:
    """Whether a finding has a text: a weakness is a choice of its owners, and no report."""
    return row.class_ == "defect" and not row.fixed_in


def program_of(row: FieldFinding) -> Path:
    """The check by hand of a finding."""
    return CHECKS / row.repeat.rpartition("/")[2]


def modules_beside(program: Path) -> list[str]:
    """The files of the folder that a program imports, also by way of another one."""
    found: list[str] = []
    left = [program]
    while left:
        names = _imported(left.pop().read_text("utf-8"))
        new = [name for name in names if name not in found and (CHECKS / name).is_file()]
        found += new
        left += [CHECKS / name for name in new]
    return found


def _imported(source: str) -> list[str]:
    nodes = [*ast.walk(ast.parse(source))]
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [one.name for node in nodes if isinstance(node, ast.Import) for one in node.names]
    return [f"{name}.py" for name in names]


def steps(row: FieldFinding) -> list[str]:
    """The commands that install a target of this version, and run the program."""
    target, program = targets()[_name(row)], program_of(row).name
    packages = (targets()[target.shares] if target.shares else target).packages
    if not packages:
        package = version_of(_name(row))[0]
        return [f"npm install --global {package}@{row.version}", f"python {program}"]
    words = " ".join(f"'{each}'" for each in packages)
    return [
        "python -m venv .venv", f".venv/bin/pip install {words}", f".venv/bin/python {program}",
    ]  # fmt: skip


def _name(row: FieldFinding) -> str:
    return next(name for name in targets() if is_same(name, row.target))
