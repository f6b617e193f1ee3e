"""What is imported before a target is called: no SDK for an agent with its own client."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import AGENTS
from tests.documents import ROOT

PLAY = """
import sys
sys.path.insert(0, sys.argv[1])
{before}
import agents
from harness import Scenario
from harness.runner import run

run(Scenario(name="made"), agents.silent)
print([name for name in ("anthropic", "anthropic.resources", "openai") if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("before", "imported"),
    [("", "[]"), ("import anthropic", "['anthropic', 'anthropic.resources']")],
    ids=["its own client", "the SDK"],
)
def test_the_sdk_is_imported_for_an_agent_that_uses_it(
    tmp_path: Path, before: str, imported: str
) -> None:
    (tmp_path / "agents.py").write_text(AGENTS, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PLAY.format(before=before), str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == imported, done.stderr
