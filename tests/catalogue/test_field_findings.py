"""Each confirmed finding is complete, names codes that exist, and can be repeated."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from harness import providers
from harness.catalogue import field_findings
from harness.catalogue.field_findings import field_finding
from harness.core.values.errors import InputError
from harness.core.values.verdict import BOOK_KEEPING
from harness.files.scenario_file import load_scenarios
from harness.providers.gemini import record as gemini
from tests.catalogue.test_incidents import known_codes

ROOT = Path(__file__).parents[2]
CHECKS = ROOT / "docs" / "field" / "checks"
COMPLETE = """
target = "an-agent"
version = "1.0"
language = "Python"
codes = ["valid_request.V4", "effect_once.again"]
class = "defect"
title = "A call is paid twice"
what = "It pays twice."
repeat = "python docs/field/checks/an-agent-pays-twice.py"
expected = "One payment."
observed = "Two payments."
basis = "general"
issue = "https://example.org/1"
scenario = "scenarios/field/an-agent-pays-twice.yaml"
"""


@pytest.mark.parametrize("name", field_findings())
def test_a_finding_names_codes_that_exist_and_files_that_repeat_it(name: str) -> None:
    row = field_findings()[name]
    assert name.startswith(f"{row.target}-")
    known = {*known_codes(), *(f"valid_request.{rule}" for rule in gemini.TABLE.rules)}
    assert {code for code in row.codes if code.partition(".")[0] not in BOOK_KEEPING} <= known
    assert Path(row.scenario).parent == Path("scenarios/field"), (
        "findings that play alike share one"
    )
    assert load_scenarios(ROOT / row.scenario)
    (script,) = (word for word in row.repeat.split() if "docs/field/checks/" in word)
    assert Path(script).stem == name
    assert (ROOT / script).is_file()


@pytest.mark.parametrize("name", field_findings())
def test_a_finding_rests_on_no_rule_that_only_we_know(name: str) -> None:
    row = field_findings()[name]
    wires = {run.wire for run in load_scenarios(ROOT / row.scenario)}
    for code in row.codes:
        check, _, rule = code.partition(".")
        of_wires = [rules[rule] for wire in wires if rule in (rules := providers.rules(wire))]
        assert check != "valid_request" or of_wires, code
        assert all(found.known != "K" for found in of_wires if check == "valid_request"), code


@pytest.mark.parametrize("script", sorted(CHECKS.glob("*.py")), ids=lambda p: p.stem)
def test_a_check_by_hand_uses_nothing_of_the_harness_and_shows_a_finding(script: Path) -> None:
    tree = ast.parse(script.read_text("utf-8"))
    nodes = [*ast.walk(tree)]
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert not {name for name in named if name.partition(".")[0] in ("harness", "tests")}
    is_shared = script.stem.isidentifier()
    assert is_shared or script.stem in field_findings()


def test_a_finding_shows_its_codes_and_their_checks() -> None:
    row = field_finding(COMPLETE, "an-agent-pays-twice")
    shown = ["valid_request.V4", "valid_request", "effect_once"]
    assert [code for code in [*shown, "valid_request.V5", "args_complete"] if row.shows(code)] == (
        shown
    )


@pytest.mark.parametrize("line", [one for one in COMPLETE.splitlines() if one])
def test_a_file_without_one_of_its_keys_is_refused(line: str) -> None:
    key = line.partition(" ")[0]
    with pytest.raises(InputError, match=f"field/mine.toml.*`{key}`"):
        field_finding(COMPLETE.replace(line, ""), "mine")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"Two payments."', '""'),
        ('"defect"', '"advice"'),
        ('"https://example.org/1"', '"see the tracker"'),
        ('["valid_request.V4", "effect_once.again"]', "[]"),
        ('basis = "general"', 'basis = "general"\nbases = ""'),
        ('basis = "general"', 'basis = ""'),
    ],
)
def test_a_file_with_a_wrong_value_is_refused(before: str, after: str) -> None:
    with pytest.raises(InputError, match=r"field/mine\.toml"):
        field_finding(COMPLETE.replace(before, after), "mine")
