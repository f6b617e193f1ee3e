"""Nothing but a renderer reads the message of a finding: what is decided rests on typed values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness

ROOT = Path(harness.__file__).parent

RENDERERS = (
    "report/",
    "cli/doctor_report.py",
    "cli/fuzz_report.py",
    "cli/fuzz_runs.py",
    "cli/shrink_report.py",
    "cli/shrink_run.py",
    "contracts/check_contract.py",
    "core/values/verdict.py",
    "doctor/examination.py",
    "pytest_plugin/",
    "runner/run.py",
)
"""What writes for people. `Finding.__str__` is in `verdict`, and a contract asks that it says
something."""

CONVERSATIONS = {"checks/tool_ids.py": "a row of a conversation is called `found` there"}
"""Files that name a finding's type, and read the message of something else by such a name."""

_NAMES = ("finding", "findings", "found", "first", "early", "broken", "reduced", "cause", "f")


def reads(text: str) -> Iterator[int]:
    """The lines of a module that read `message` of what it calls a finding."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr == "message":
            owner = node.value
            while isinstance(owner, (ast.Subscript, ast.Call)):
                owner = owner.value if isinstance(owner, ast.Subscript) else owner.func
            name = getattr(owner, "attr", getattr(owner, "id", ""))
            if name in _NAMES:
                yield node.lineno


def test_only_renderers_read_the_message_of_a_finding() -> None:
    outside = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in ROOT.rglob("*.py")
        if not str(path.relative_to(ROOT)).startswith((*RENDERERS, *CONVERSATIONS))
        and "Finding" in (text := path.read_text("utf-8"))
        for line in reads(text)
    ]
    assert outside == [], "use the key of the finding, or write it in a report"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def key(finding):\n    return finding.message.split()", [2]),
        ("key = [f.message for f in found]", [1]),
        ("key = verdict.findings[0].message; key = group.finding.message", [1, 1]),
        ("said = node.message.text; finding.code", []),
    ],
)
def test_what_reads_one(text: str, lines: list[int]) -> None:
    assert list(reads(text)) == lines
