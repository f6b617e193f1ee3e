"""A text for each confirmed defect, as its owners can be sent it: `docs/field/reports`.

It holds what somebody needs who does not know the harness: title, versions, what is expected and
seen, why, and the program that shows it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.catalogue import field_findings
from harness.catalogue.field_findings import GENERAL, FieldFinding
from tests.field.environments import HERE, ROOT, is_same, targets

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
    world = Environment(
        loader=FileSystemLoader(HERE), autoescape=False, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    template = world.get_template("upstream_report.md.jinja")
    return {
        name: template.render(
            name=name, row=row, GENERAL=GENERAL, package=_installed(row)[0],
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
    package, tool = _installed(row)
    if tool == "npm":
        return [f"npm install --global {package}@{row.version}", f"python {program_of(row).name}"]
    packages = " ".join(f"'{each}'" for each in _packages(row))
    return [
        "python -m venv .venv",
        f".venv/bin/pip install {packages}",
        f".venv/bin/python {program_of(row).name}",
    ]


def _packages(row: FieldFinding) -> tuple[str, ...]:
    name = _name(row)
    target = targets()[name]
    return target.packages or targets()[target.shares].packages


def _installed(row: FieldFinding) -> tuple[str, str]:
    """The name of the package, and what installs it."""
    target = targets()[_name(row)]
    target = targets()[target.shares] if target.shares else target
    if target.packages:
        return target.packages[0].partition("==")[0].partition("[")[0], "pip"
    return target.node[0].rpartition("@")[0], "npm"


def _name(row: FieldFinding) -> str:
    return next(name for name in targets() if is_same(name, row.target))
