"""`python -m tests.pictures`: draws docs/pictures/terminal.svg from what a command really prints.

The command runs at its own terminal, so that it prints its colours.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "terminal.svg"
COMMAND = "harness run scenarios/loops/identical-failures.yaml --target naive"
COLUMNS = 112

_FONTS = re.compile(r"\s*@font-face \{\{.*?\}\}", re.DOTALL)
"""The drawing names fonts of another host; a reader's own font does as well."""


def printed() -> str:
    """What the command prints at a terminal, with its colours."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scenarios", "cassettes"):
            (Path(folder) / name).symlink_to(ROOT / name)
        return _at_a_terminal(folder)


def _at_a_terminal(folder: str) -> str:
    ours, theirs = pty.openpty()
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    settings = {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "60"}
    child = subprocess.Popen(
        ["bash", "-c", COMMAND],
        cwd=folder,
        env={"PATH": tools, "HOME": folder, "LANG": "C.UTF-8", **settings},
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 65536):
            text += piece
    except OSError:  # the last writer has closed the terminal
        pass
    child.wait()
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def drawing(text: str) -> str:
    """The drawing of a terminal that shows the command and its output."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {COMMAND}", style="bold"))
    console.print(Text.from_ansi(text))
    return console.export_svg(
        title="loop-harness",
        code_format=_FONTS.sub("", CONSOLE_SVG_FORMAT),
        unique_id="terminal",
    )


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawing(printed()), "utf-8")
