"""The code blocks of the documents, and a reader who does what a page says, block by block.

A block belongs to the paragraph above it: with `NAME.py`: at its end, the block is a file of that
name. A block of commands is typed into a shell. A block of the language `text` behind it is what
the commands print; `…` stands for any text. `<!-- not run: REASON -->` above a block takes it out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

SHELL = ("sh", "")
_FILE = re.compile(r"`([\w./-]+\.[a-z]+)`[^`]*:$")
_SUFFIXES = {"python": "py", "yaml": "yaml yml", "toml": "toml", "js": "mjs js", "json": "json"}
_EXCUSE = re.compile(r"<!-- not run: (.+) -->")
_COMMAND = re.compile(r"^\$? ?(?:harness|pytest|make|python3?|pip|mkdir|cd|cp|npm) ", re.MULTILINE)
PREPARED = ("make ", "pip ", "python -m venv", "python3 -m venv", ". .venv", "npm install")
"""Lines that set up what a test has already, or that are whole test runs of their own."""

STATUSES = (0, 1)
"""A page may show a run that fails; a wrong flag, name or file is status 2."""


@dataclass(frozen=True)
class Block:
    """A block of code, where it stands, and what the page says of it."""

    page: Path
    line: int
    language: str
    text: str
    name: str
    """The file that it makes; empty for none."""

    excuse: str
    """Why it is not run; empty for a block that is."""

    @property
    def is_shell(self) -> bool:
        """Whether it is typed into a shell."""
        return self.language in SHELL and not self.name and bool(_COMMAND.search(self.text))

    @property
    def commands(self) -> list[str]:
        """The commands that are run, one a line; a line that ends with a backslash goes on."""
        lines = self.text.replace("\\\n", " ").splitlines()
        typed = [line.removeprefix("$ ").strip() for line in lines]
        return [c for c in typed if c and not c.startswith(("#", *PREPARED))]


@cache
def blocks_of(page: Path) -> tuple[Block, ...]:
    """The fenced and indented blocks of a page, in order."""
    found, lead, excuse = list[Block](), "", ""
    for token in MarkdownIt().parse(page.read_text("utf-8")):
        if token.type == "inline":
            lead = token.content
        elif token.type == "html_block":
            excused = _EXCUSE.search(token.content)
            excuse = excused[1] if excused else ""
        elif token.type in ("fence", "code_block"):
            named = _FILE.search(lead)
            line = token.map[0] + 1 if token.map else 0
            fits = named and named[1].rpartition(".")[2] in _SUFFIXES.get(token.info, "").split()
            name = named[1] if named and fits else ""
            found.append(Block(page, line, token.info.strip(), token.content, name, excuse))
            lead = excuse = ""
    return tuple(found)


def follow(page: Path, folder: Path, *, writes: bool = True) -> int:
    """Do in a folder what a page says; how many commands were run."""
    shown, count = "", 0
    for block in blocks_of(page):
        if block.excuse:
            continue
        if block.name and writes:
            path = folder / block.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif block.is_shell:
            shown = "".join(_typed(block, command, folder) for command in block.commands)
            count += len(block.commands)
        elif block.language == "text" and shown:
            difference = missing(block.text, shown)
            assert difference is None, f"{page.name}:{block.line}: no {difference!r} in\n{shown}"
    return count


def _typed(block: Block, command: str, folder: Path) -> str:
    tools = Path(sys.executable).parent
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "TMPDIR")}
    path = f"{tools}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", _smaller(command)],
        cwd=folder,
        env={
            **kept,
            "PATH": path,
            "HOME": str(folder),
            "COLUMNS": "100",
            "XDG_CONFIG_HOME": f"{folder}-config",
        },
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    said = f"{block.page.name}:{block.line}: {command}: status {done.returncode}\n{done.stdout}"
    assert done.returncode in STATUSES, said + done.stderr[-2000:]
    return done.stdout


def _smaller(command: str) -> str:
    """The command with a campaign of seconds in place of one of hours."""
    short = re.sub(r"--minutes \d+", "--minutes 0.1", command)
    return re.sub(r"--examples \d+", "--examples 5", short)


def missing(expected: str, seen: str) -> str | None:
    """The first line that was not printed in its place; None if the block is the output."""
    lines, at, may_skip = [line.rstrip() for line in seen.splitlines()], 0, False
    for wanted in (line.rstrip() for line in expected.splitlines()):
        if wanted.strip() == "…":
            may_skip = True
            continue
        pattern = re.compile(".*".join(map(re.escape, wanted.split("…"))))
        found = (n for n in range(at, len(lines)) if pattern.fullmatch(lines[n]))
        place = next(found, None)
        if place is None or (place != at and not may_skip):
            return wanted
        at, may_skip = place + 1, False
    return None if may_skip or at == len(lines) else "the end"
