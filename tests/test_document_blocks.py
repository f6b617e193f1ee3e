"""Every code block of the documents is run, or says why it cannot be.

Scenarios and programs are played by tests/test_docs.py, events and verdicts are compared by
tests/test_docs_complete.py. The commands are typed here, page by page: those of the tutorial in the
slow tier, the others by `make test-nightly`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest

from harness import load_plugins
from harness.configuration import load_configuration
from harness.files import load_scenarios
from harness.parts.loading import loaded, set_loaded
from harness.starter.starter_files import template
from tests.document_blocks import Block, blocks_of, follow, missing
from tests.document_world import MY_PARTS, make_project, make_world
from tests.documents import ROOT
from tests.field.upstream_reports import FOLDER as REPORTS

DOCS = ROOT / "docs"
SKILLS = sorted((ROOT / "examples/skills").rglob("*.md"))
PAGES = [ROOT / "README.md", *sorted({*DOCS.rglob("*.md")} - {*REPORTS.iterdir()}), *SKILLS]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]
TUTORIAL = DOCS / "tutorial.md"
_NODE = DOCS / "how-to/typescript.md"  # its commands need npm: tests/node follows them
ALONE = [TUTORIAL, *sorted({*(DOCS / "how-to").glob("*.md")} - {_NODE}), *SKILLS]
"""Pages that a reader follows from an empty folder."""

EXCUSED = 29
"""The most blocks that may not run."""

COMPARED = ("json", "jsonl")
"""Languages of blocks that tests/test_docs_complete.py reads."""


def runner(block: Block) -> str:
    """What runs a block; empty for nothing."""
    if block.excuse:
        return "excused"
    if block.is_shell or (block.name and block.page in ALONE):
        return "typed"
    kinds = {
        "python": "executed",
        "yaml": "loaded",
        "toml": "loaded",
        "ini": "loaded",
        "text": "compared",
    }
    return kinds.get(block.language, "compared" if block.language in COMPARED else "")


TYPED = {b.page for b in BLOCKS if b.is_shell and not b.excuse}


def _id(block: Block) -> str:
    return f"{block.page.stem}-{block.line}"


def test_every_block_is_run_or_says_why() -> None:
    left = [f"{_id(b)} {b.language!r}" for b in BLOCKS if not runner(b)]
    assert left == [], "run it, or write above it: <!-- not run: REASON -->"
    assert sum(runner(block) == "excused" for block in BLOCKS) <= EXCUSED


def test_every_text_stands_behind_commands() -> None:
    behind = {}
    for page in PAGES:
        shown = False
        for block in blocks_of(page):
            if block.language == "text" and not block.excuse and not block.name:
                behind[_id(block)] = shown
            shown = shown or block.is_shell
    left = [name for name, shown in behind.items() if not shown]
    assert left == [], "no command prints it: write above it <!-- not run: REASON -->"


def test_outputs_are_compared() -> None:
    seen = "one\ntwo  \nthree\nfour\n"
    assert missing("one\ntwo\nthree\nfour\n", seen) is None
    assert missing("…\ntwo\n…\nfour", seen) is None
    assert missing("one\nt…o\n…\n", seen) is None
    assert missing("one\nthree\n…\n", seen) == "three"
    assert missing("two\n…\n", seen) == "two"
    assert missing("one\n", seen) == "the end"
    assert missing("four\n…\none\n", seen) == "four"


SMALLEST = {"name": "part", "inbox": "Well?", "script": '[{say: "Yes."}]'}
"""What a part of a scenario lacks to be one."""

PARTS = [
    pytest.param(block, id=_id(block))
    for block in BLOCKS
    if block.language in ("yaml", "toml") and not block.excuse and block.page not in ALONE
]


@pytest.fixture
def my_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The plug-in of the pages, while a file is loaded that names it."""
    before = loaded()
    (tmp_path / "my_parts.py").write_text(MY_PARTS, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    load_plugins("my_parts")
    yield
    set_loaded(before)
    sys.modules.pop("my_parts", None)


@pytest.mark.parametrize("block", PARTS)
@pytest.mark.usefixtures("my_parts")
def test_files_are_loaded(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    if block.language == "toml":
        (tmp_path / "pyproject.toml").write_text(block.text, "utf-8")
        load_configuration(tmp_path)
        return
    keys = set(re.findall(r"^(\w+):", block.text, re.MULTILINE))
    rest = "".join(f"{key}: {value}\n" for key, value in SMALLEST.items() if key not in keys)
    (name,) = re.findall(r"^name: (.*)$", rest + block.text, re.MULTILINE)
    path = tmp_path / f"{name}.yaml"
    path.write_text(rest + block.text, "utf-8")
    assert load_scenarios(path, ("cassettes",))


def test_ini_keys_exist(pytestconfig: pytest.Config) -> None:
    for block in (b for b in BLOCKS if b.language == "ini" and not b.excuse):
        file = ConfigParser()
        file.read_string(block.text)
        for key in file["pytest"]:
            pytestconfig.getini(key)


@pytest.mark.real
@pytest.mark.nightly
def test_the_readme_is_followed(tmp_path: Path) -> None:
    make_project(tmp_path)
    assert follow(ROOT / "README.md", tmp_path) >= 3


def test_the_agent_of_the_tutorial_is_that_of_init() -> None:
    (mended,) = (b.text for b in BLOCKS if b.page == TUTORIAL and b.name == "agent.py")
    before, mend = template("agent.py.txt"), template("mend.txt")
    assert mend in mended
    assert mended.replace(mend, "").replace("    failures = 0\n", "") == before


@pytest.mark.real
def test_the_tutorial_is_followed(tmp_path: Path) -> None:
    assert follow(TUTORIAL, tmp_path) >= 6


@pytest.mark.real
@pytest.mark.nightly
@pytest.mark.parametrize("page", ALONE[1:], ids=lambda page: page.stem)
def test_a_page_is_followed_from_an_empty_folder(page: Path, tmp_path: Path) -> None:
    assert follow(page, tmp_path) >= 1


@pytest.mark.real
@pytest.mark.nightly
@pytest.mark.parametrize(
    "page", sorted(TYPED - {*ALONE, ROOT / "README.md"}), ids=lambda page: page.stem
)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    make_world(tmp_path)
    assert follow(page, tmp_path, writes=False) >= 1
