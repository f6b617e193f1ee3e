"""A folder in which the commands of the reference pages run: an agent, scenarios, recordings."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.agent import agent as reference
from harness.files import load_scenarios
from harness.runner import run
from tests.documents import ROOT, blocks

AGENT = """\
from harness.agent import naive_agent


def agent(brief):
    naive_agent.agent(brief)
"""

OVERLAY = "faults: [{kind: http.overloaded, must_fire: false}]\n"

FOLDERS = {"loops": "*s.yaml", "gateway": "replay-spiral.yaml"}
"""A few scenarios: the commands show flags, and no test of the catalogue stands here."""


MY_PARTS = blocks(ROOT / "docs" / "plug-ins.md", "python")[0]
"""The plug-in of the pages."""


def make_project(folder: Path) -> None:
    """Lay what the README names: an agent in a package, and scenarios."""
    _write(folder / "my_package/my_agent.py", AGENT)
    for name, pattern in FOLDERS.items():
        for path in (ROOT / "scenarios" / name).glob(pattern):
            _write(folder / "scenarios" / name / path.name, path.read_text("utf-8"))


def make_world(folder: Path) -> None:
    """Lay all that the reference pages name."""
    make_project(folder)
    _write(folder / "my_agent.py", AGENT)
    _write(folder / "overlay.yaml", OVERLAY)
    _write(folder / "my_parts.py", MY_PARTS)
    for name in ("cassettes", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copytree(ROOT / "examples" / "node_agent", folder / "node_agent")
    shutil.copy(ROOT / "examples" / "node_agent.mjs", folder / "my_agent.mjs")
    _keep_runs(folder)


def _keep_runs(folder: Path) -> None:
    (greeting,) = (b for b in blocks(ROOT / "README.md", "yaml") if "name: greeting" in b)
    _write(folder / "scenarios" / "greeting.yaml", greeting)
    for name in ("greeting.yaml", "loops/circles.yaml"):
        scenario = load_scenarios(folder / "scenarios" / name)[0]
        run(scenario, reference, out=folder / ".harness" / "runs")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
