"""What the documents promise exists: links, make targets, verbs of the command line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`|^ {4}.*$", re.MULTILINE | re.DOTALL)


def broken_links(document: Path) -> list[str]:
    """Relative links that lead to no file; fragments are not looked up."""
    targets = _LINK.findall(document.read_text("utf-8"))
    local = [t.partition("#")[0] for t in targets if not re.match(r"[a-z]+:|#", t)]
    return [target for target in local if not (document.parent / target).exists()]


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


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    wanted = set().union(*(named("make", d.read_text("utf-8")) for d in DOCUMENTS))
    assert wanted, "the documents name no make target: the test does not see them"
    assert wanted <= targets, f"no such target: {wanted - targets}"


def test_every_phony_target_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (phony,) = re.findall(r"^\.PHONY:(.*)$", makefile, re.MULTILINE)
    assert set(phony.split()) == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))


def test_verbs_exist() -> None:
    wanted = set().union(*(named("harness", d.read_text("utf-8")) for d in DOCUMENTS))
    code = "import sys; sys.argv = ['harness', '--help']; from harness.cli import main; main()"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    verbs = set(re.findall(r"^ +([a-z][a-z-]*)\b", seen.stdout, re.MULTILINE))
    assert wanted <= verbs, f"no such verb: {wanted - verbs}; {seen.stderr[-300:]}"


def test_the_readers_see_what_is_wrong(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    links = "[a](a.md#x) [b](gone.md) [c](https://x.org)"
    text = f"{links}\nmake sure; `make lint`\n```\n$ harness fly\n```\n"
    document.write_text(text, "utf-8")
    assert broken_links(document) == ["gone.md"]
    assert named("make", text) == {"lint"}
    assert named("harness", text) == {"fly"}
