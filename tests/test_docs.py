"""What the documents say holds: links, commands and flags exist, and the examples run."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.agent import agent as reference
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.files import load_scenarios
from harness.runner import run
from tests.document_blocks import blocks_of
from tests.documents import ROOT, blocks, command_lines, headings
from tests.field.upstream_reports import FOLDER as REPORTS
from tests.generated_api import PUBLIC

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [*PAGES, ROOT / "CHANGELOG.md", *sorted((ROOT / "examples/skills").rglob("*.md"))]

MOST_WORDS, MOST_LINES = 78_000, 120
"""The most words of all pages but the tables that are made of the code, and lines of the README."""

LOOKED_UP = ("faults.md", "rules.md", "api.md", "wire-table.md")
"""Tables in which a reader looks up one line. The texts for owners are looked up too, by name."""

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`|^ {4}.*$", re.MULTILINE | re.DOTALL)


def broken_links(document: Path) -> list[str]:
    """Relative links that lead to no file; fragments are not looked up."""
    targets = _LINK.findall(document.read_text("utf-8"))
    local = [t.partition("#")[0] for t in targets if not re.match(r"[a-z]+:|#", t)]
    return [target for target in local if not (document.parent / target).exists()]


def broken_fragments(document: Path) -> list[str]:
    """Links to a heading, of this document or another one, that is not there."""
    split = [t.partition("#") for t in _LINK.findall(document.read_text("utf-8"))]
    return [
        f"{path}#{fragment}"
        for path, _, fragment in split
        if fragment and ":" not in path
        if fragment not in headings(document.parent / path if path else document)
    ]


def named(command: str, text: str) -> set[str]:
    """The words that follow `command` in code: blocks, indented lines and spans."""
    code = "\n".join(span.strip("`") for span in _CODE.findall(text))
    return {
        word
        for line in re.findall(rf"^[ $]*{command}((?: [a-z][a-z-]*)+)", code, re.MULTILINE)
        for word in (line.split() if command == "make" else line.split()[:1])
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    assert broken_links(document) == []
    assert broken_fragments(document) == []


def test_the_pages_are_short_enough_to_be_read() -> None:
    read = [p for p in PAGES if p.name not in LOOKED_UP and p.parent != REPORTS]
    words = {page: len(page.read_text("utf-8").split()) for page in read}
    longest = sorted(words, key=words.__getitem__, reverse=True)[:5]
    named = ", ".join(f"{page.name} {words[page]}" for page in longest)
    assert sum(words.values()) <= MOST_WORDS, f"say a thing once; the longest: {named}"
    lines = (ROOT / "README.md").read_text("utf-8").count("\n")
    assert lines <= MOST_LINES, f"README.md has {lines} lines"


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    wanted = set().union(*(named("make", d.read_text("utf-8")) for d in DOCUMENTS))
    assert wanted, "the documents name no make target: the test does not see them"
    assert wanted <= targets, f"no such target: {wanted - targets}"


def test_the_changelog_is_short_enough_to_be_read() -> None:
    releases = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1:]
    too_long = [release[:20] for release in releases if release.count("\n") > 150]
    assert too_long == [], "a merge brought old lines back: take main's page, add your lines"


def test_every_phony_target_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (phony,) = re.findall(r"^\.PHONY:(.*)$", makefile, re.MULTILINE)
    assert set(phony.split()) == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))


WITHOUT_ARGUMENTS = {
    "help", "setup", "demo", "check", "docs", "dist", "clean", "nightly", "test-older",
}  # fmt: skip
"""Targets that do one thing; `nightly` takes the names of its runs, `test-older` an SDK."""


def test_every_long_target_takes_arguments() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipes = re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipes, "no target found: the test looks in the wrong place"
    deaf = {name for name, recipe in recipes if "$(ARGS)" not in recipe}
    assert deaf <= WITHOUT_ARGUMENTS


def test_verbs_exist() -> None:
    wanted = set().union(*(named("harness", d.read_text("utf-8")) for d in DOCUMENTS))
    code = "import sys; sys.argv = ['harness', '--help']; from harness.cli import main; main()"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    verbs = set(re.findall(r"^ +([a-z][a-z-]*)\b", seen.stdout, re.MULTILINE))
    assert wanted <= verbs, f"no such verb: {wanted - verbs}; {seen.stderr[-300:]}"


def test_the_readers_see_what_is_wrong(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    links = "# X y\n[a](a.md#x) [b](gone.md) [c](https://x.org) [d](#x-y)"
    text = f"{links}\nmake sure; `make lint`\n```\n$ harness fly\n```\n"
    document.write_text(text, "utf-8")
    assert broken_links(document) == ["gone.md"]
    assert broken_fragments(document) == ["a.md#x"]
    assert named("make", text) == {"lint"}
    assert named("harness", text) == {"fly"}


OF_AN_APPLICATION = "own-client.md"
"""The page whose scenarios call tools of its application; its commands play them."""

SCENARIO_BLOCKS = [
    pytest.param(block, id=f"{document.name}-{msgspec.yaml.decode(block)['name']}")
    for document in DOCUMENTS
    for block in blocks(document, "yaml")
    if re.search(r"^name:", block, re.MULTILINE) and re.search(r"^script:", block, re.MULTILINE)
    if document.name != OF_AN_APPLICATION
]
PROGRAMS = [
    pytest.param(document, block.text, id=f"{document.name}-{block.line}")
    for document in DOCUMENTS
    if document.parent != REPORTS
    for block in blocks_of(document)
    if block.language == "python" and not block.name and not block.excuse
]
"""Blocks that run by themselves; a file of a how-to guide runs where a reader has put it, and the
program of a text for owners where its framework is."""

HELLO = Scenario(name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello."),))
TALK = Scenario(
    name="talk",
    tools={"look": ToolScript(script=(ToolTurn(ok="seen"), ToolTurn(error="gone")))},
    inbox=(InboxItem(text="Look."), InboxItem(text="Look again.")),
    script=(Turn(use="look"), Turn(say="Seen."), Turn(use="look"), Turn(say="Gone.")),
)
"""Two turns with a tool that works once; without its tool turns, for agents without tools."""

WORDS_ALONE = msgspec.structs.replace(TALK, tools={}, script=(Turn(say="Seen."), Turn(say="Gone.")))


def findings(scenario: Scenario, agent: Any) -> list[str]:
    """The findings, and the doubts too: a run that cannot be judged is not a pass."""
    verdict = run(scenario, agent).verdict
    return sorted({f.code for f in verdict.findings}) + list(verdict.doubts)


@pytest.mark.parametrize("block", SCENARIO_BLOCKS)
def test_scenarios_do_what_is_said_of_them(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    said = re.match(r"# finds: (.*)\n", block)
    expected = sorted(said[1].split(", ")) if said else []
    path = tmp_path / f"{msgspec.yaml.decode(block)['name']}.yaml"
    path.write_text(block, "utf-8")
    scenarios = load_scenarios(path, ("cassettes",))
    assert {s.run_name: findings(s, reference) for s in scenarios} == {
        s.run_name: expected for s in scenarios
    }


def test_there_are_scenarios_and_programs() -> None:
    assert len(SCENARIO_BLOCKS) > 10
    assert len(PROGRAMS) > 5


@pytest.mark.parametrize(("document", "block"), PROGRAMS)
def test_programs_run(document: Path, block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(compile(block, document.name, "exec"), names)
    if "agent" not in names:
        return
    wire = "openai-chat" if "brief.openai()" in block else "anthropic"
    talk = TALK if "brief.tools" in block else WORDS_ALONE
    for scenario in (HELLO, talk) if document.name in ("targets.md", "adapters.md") else (HELLO,):
        assert findings(msgspec.structs.replace(scenario, wire=wire), names["agent"]) == []


def test_the_agent_of_the_readme_forgets(tmp_path: Path) -> None:
    (block,) = (b for b in blocks(ROOT / "README.md", "python") if "def agent" in b)
    (tmp_path / "test_mine.py").write_text(block, "utf-8")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "history_faithful.forgotten_reply (defect)" in done.stdout
    assert "1 failed" in done.stdout
    assert "target.crashed" not in done.stdout


def test_flags_exist() -> None:
    lines = [w for d in DOCUMENTS for w in command_lines(d.read_text("utf-8"))]
    assert any("--only" in words for words in lines), "the test does not see the command lines"
    for verb, *words in lines:
        module = importlib.import_module(f"harness.cli.{verb}")
        params = module.command.params
        known = {flag for p in params for flag in (*p.opts, *p.secondary_opts)} | {"--help", "-h"}
        used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= known, f"harness {verb}: no such flag: {used - known}"


def deep_imports(program: str) -> set[str]:
    """The modules of the package that a program imports, and that are not public."""
    found = set()
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name for name in found if name.partition(".")[0] == "harness"} - {*PUBLIC}


@pytest.mark.parametrize(("document", "block"), PROGRAMS)
def test_documents_import_public_modules_alone(document: Path, block: str) -> None:
    assert deep_imports(block) == set()


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_import_public_modules_alone(path: Path) -> None:
    assert deep_imports(path.read_text("utf-8")) == set()


def test_deep_imports_are_seen() -> None:
    program = "import harness.core\ndef f():\n    from harness.runner import run\n"
    assert deep_imports(program) == {"harness.core", "harness.runner"}
    assert deep_imports("from harness import run\nimport harness.checks") == set()


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_has_what_it_lists(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    assert module.__all__ == sorted(module.__all__)
    for public in module.__all__:
        assert getattr(module, public) is not None
