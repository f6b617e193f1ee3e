"""A folder outside the repository with the plug-in of the documents, scenarios and agents."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cli import main
from harness.parts.loading import loaded, set_loaded
from tests.cli.conftest import AGENTS
from tests.cli.talks import Done
from tests.documents import ROOT, blocks

MY_PARTS = blocks(ROOT / "docs" / "plug-ins.md", "python")[0]

SCENARIO = """\
name: greeting
inbox: Hello
script: [{say: Good morning.}]
faults: [{kind: my_parts.slow_disk, on: "store:write"}]
checks: [my_parts.polite]
variants:
  strict: {checks: [{my_parts.polite: {word: morning}}]}
"""

RUDE = """

def rude(brief):
    for inbound in brief.inbox():
        ask(brief, [{"role": "user", "content": inbound.text or "-"}])
        brief.send("darn", in_reply_to=inbound.id, session=inbound.session)
"""

MINE = ("my_parts", "other_parts", "rude_agents", "pack", "again")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder, as the current one; the plug-ins that were loaded before, afterwards."""
    before, path, modules = loaded(), [*sys.path], {*sys.modules}
    (tmp_path / "my_parts.py").write_text(MY_PARTS, "utf-8")
    (tmp_path / "rude_agents.py").write_text(AGENTS + RUDE, "utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "greeting.yaml").write_text(SCENARIO, "utf-8")
    monkeypatch.chdir(tmp_path)
    try:
        yield tmp_path
    finally:
        set_loaded(before)
        sys.path[:] = path
        for name in {*sys.modules} - modules:
            if name.partition(".")[0] in MINE:
                del sys.modules[name]


class Line:
    """The command line in this process, each command with the plug-ins of nothing before it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str) -> Done:
        """Run a command: its status, standard output and standard error."""
        set_loaded(())
        with pytest.raises(SystemExit) as ended:
            main(words)
        out, err = self._capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)


@pytest.fixture
def harness(folder: Path, capsys: pytest.CaptureFixture[str]) -> Line:
    """The command line, in the folder."""
    return Line(capsys)
