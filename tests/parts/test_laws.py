"""The laws of parts: what a contributor may forget makes one of these tests fail, and says what.

A law runs what it names. The mutant of a check is played and is red by this check. The right agent
beside it is played in the same scenario, is asked the same rule, and is green.
"""

from __future__ import annotations

import ast
import importlib
import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness import providers
from harness.adapters.shared.framework_agent import frameworks
from harness.agent import agent as reference
from harness.checks.judge import CHECKS, check_of, own_checks, rules_of
from harness.core.values.verdict import BOOK_KEEPING
from harness.parts.loading import Kind, folders_of
from harness.parts.part import Part
from harness.plugins import kinds
from harness.runner import run
from tests import mutants
from tests.generated_pages import DOCS, MARK, ROOT
from tests.mutants import Mutant, WrongAgent
from tests.mutants.__main__ import is_killed
from tests.scenarios.all_runs import named

PAGES = {
    "fault": "faults.md",
    "check": "checks.md",
    "format": "recordings.md",
    "store": "targets.md",
    "report": "outputs.md",
}
"""The page that has a line for each part of a kind."""

OF_RECORDINGS = {"session_answers"}
"""Checks that ask recordings alone, so that no agent can be played against them."""

OF_AGENTS = sorted(own_checks().keys() - BOOK_KEEPING - OF_RECORDINGS)


def without_part(kind: Kind[Any]) -> list[str]:
    """The files of a kind's folder in which nothing is recognised."""
    return [file.module.__name__ for file in kind.files() if not kind.parts_of(file)]


@pytest.mark.parametrize("name", kinds())
def test_each_file_of_a_folder_of_parts_has_a_part(name: str) -> None:
    assert without_part(kinds()[name]) == [], "put what parts share into a folder `shared`"


def _planted(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Kind[Any]:
    package = folder / "planted_parts"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "politeness.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    for name in ("planted_parts", "planted_parts.politeness"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return Kind("check", "", CHECKS.parts_of, lambda name, _: Part(name, ""), folder=package.name)


def test_a_file_without_a_part_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = _planted(tmp_path, "def polite(story): ...\n", monkeypatch)
    assert without_part(kind) == ["planted_parts.politeness"]
    assert kind.own() == {}


def test_a_file_with_a_part_is_found_by_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = _planted(tmp_path, "def polite(history): ...\n", monkeypatch)
    assert without_part(kind) == []
    assert [*kind.own()] == [*kind.parts()] == ["polite"]


def test_each_file_of_an_adapter_has_its_table_and_each_folder_of_a_provider_its_record() -> None:
    files = {path.stem for path in (ROOT / "harness" / "adapters").glob("*.py")} - {"__init__"}
    assert {row.file.rpartition(".")[2] for row in frameworks().values()} == files
    assert len(folders_of("harness.providers")) == len(providers.names())
    for name in providers.names():
        assert providers.by_name(name).record is providers.record(name)


@pytest.mark.parametrize("name", kinds())
def test_each_part_has_a_line_in_the_documents(name: str) -> None:
    text = (DOCS / PAGES[name]).read_text("utf-8")
    said = {*re.findall(r"`([\w.]+)`", text), *re.findall(r"^#+ ([\w.]+)$", text, re.MULTILINE)}
    assert kinds()[name].own().keys() - said == set(), f"docs/{PAGES[name]} has no line for it"


def test_each_adapter_and_each_provider_has_a_line_in_the_documents() -> None:
    adapters, rules = (
        (DOCS / "adapters.md").read_text("utf-8"),
        (DOCS / "rules.md").read_text("utf-8"),
    )
    assert {name for name in frameworks() if name not in adapters} == set()
    assert {name for name in providers.names() if f"## {name}\n" not in rules} == set()


@pytest.mark.parametrize("name", kinds())
def test_each_part_says_what_it_does_and_the_words_of_its_settings(name: str) -> None:
    for part in kinds()[name].parts().values():
        assert part.title, part.name
        assert all(setting.type is not Any for setting in part.settings.values()), part.name


@pytest.mark.parametrize("check", sorted(own_checks().keys() - BOOK_KEEPING))
def test_each_rule_has_its_class_reason_source_and_question(check: str) -> None:
    assert rules_of(check), f"no table beside the file has a row for {check}"
    for rule in rules_of(check):
        assert rule.class_
        assert rule.reason
        assert rule.source
        assert rule.asked_by


@cache
def _mutants() -> dict[str, list[WrongAgent]]:
    """The wrong agents, by the check that has a finding for them."""
    found: dict[str, list[WrongAgent]] = {}
    for _, mutant, wrong in mutants.every():
        found.setdefault(check_of(mutant.killed_by), []).append(wrong)
    return found


def _not_alike(mutant: Mutant, check: str) -> str:
    """Why the right agent beside a mutant does not look like it; "" where it does.

    The right agent is the mutant's `look_alike`, else the reference agent.
    """
    right = mutant.look_alike or reference
    verdict = run(named(mutant.scenario).failing_on("advice"), right).verdict
    if any(is_killed(mutant, [finding.code]) for finding in verdict.findings):
        return "the right agent has the finding too"
    lacks = {n.check: n.reason for n in verdict.not_applicable}
    return lacks.get(mutant.killed_by) or lacks.get(check) or ""


@pytest.mark.parametrize("check", OF_AGENTS)
def test_each_check_has_a_mutant_that_it_kills_and_a_look_alike_that_it_passes(check: str) -> None:
    assert check in _mutants(), f"tests/mutants has no wrong agent for {check}"
    reasons = dict[str, str]()
    for wrong in _mutants()[check]:
        mutant = wrong.mutant
        if why := _not_alike(mutant, check):
            reasons[mutant.scenario] = why
            continue
        found = run(named(mutant.scenario).failing_on("advice"), wrong.agent).verdict.findings
        assert is_killed(mutant, [finding.code for finding in found])
        return
    pytest.fail(f"no right agent is asked {check} in a mutant's scenario: {reasons}")


GENERATED = sorted(path.stem for path in (ROOT / "tests").glob("generated_*.py"))
PAGE_WRITERS = [name for name in GENERATED if name not in ("generated_pages", "generated_examples")]


@pytest.mark.parametrize("name", PAGE_WRITERS)
def test_a_command_that_generates_a_page_writes_it(name: str, tmp_path: Path) -> None:
    module = importlib.import_module(f"tests.{name}")
    pages = getattr(module, "PAGES", (f"{name.partition('_')[2]}.md",))
    for page in pages:
        kept, mark, _ = (DOCS / page).read_text("utf-8").partition(MARK)
        (tmp_path / page).write_text(kept + mark, "utf-8")
    module.main(tmp_path)
    for page in pages:
        assert (tmp_path / page).read_text("utf-8") == (DOCS / page).read_text("utf-8")


def test_a_table_of_keys_that_is_wrong_is_written_again(tmp_path: Path) -> None:
    module = importlib.import_module("tests.generated_keys")
    for page in module.PAGES:
        text = (DOCS / page).read_text("utf-8")
        (tmp_path / page).write_text(re.sub(r"(<!-- keys \w+ -->\n).*?\n", r"\1", text), "utf-8")
    module.main(tmp_path)
    for page in module.PAGES:
        assert (tmp_path / page).read_text("utf-8") == (DOCS / page).read_text("utf-8")


@pytest.mark.parametrize("name", [n for n in GENERATED if n != "generated_pages"])
def test_a_generated_module_writes_when_it_is_run(name: str) -> None:
    tree = ast.parse((ROOT / "tests" / f"{name}.py").read_text("utf-8"))
    guard = [n for n in tree.body if isinstance(n, ast.If) and "__main__" in ast.unparse(n.test)]
    assert [ast.unparse(node.body) for node in guard] == ["main()"]


def _commands() -> Iterator[tuple[str, str]]:
    """Each `python -m NAME` and each `make TARGET` that CONTRIBUTING and the documents name."""
    for page in (ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))):
        text = page.read_text("utf-8").partition(MARK)[0]
        for command in re.findall(r"`((?:python -m (?:tests|bench)|make )[^`\n]*)`", text):
            yield page.name, command


def test_each_command_that_the_documents_name_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page, command in _commands():
        words = shlex.split(command)
        if words[0] == "make":
            assert words[1] in targets, f"{page}: {command}"
            continue
        place = ROOT.joinpath(*words[2].split("."))
        files = [
            file for file in (place.with_suffix(".py"), place / "__main__.py") if file.exists()
        ]
        assert files, f"{page}: {command}"
        assert "__main__" in files[-1].read_text("utf-8"), f"{page}: {command} does nothing"
