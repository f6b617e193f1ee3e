"""A folder in which the commands of the reference pages run: an agent, scenarios, recordings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
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

CONFIGURATION = blocks(ROOT / "docs" / "configuration.md", "toml")[0]
"""The configuration of the pages, with the profile `mine`."""

A_TEST = """\
from my_agent import agent


def test_my_agent(play):
    play("scenarios/greeting.yaml", agent)
"""


def make_project(folder: Path) -> None:
    """Lay what the README names: an agent in a package, and scenarios."""
    _write(folder / "my_package/my_agent.py", AGENT)
    for name, pattern in FOLDERS.items():
        for path in (ROOT / "scenarios" / name).glob(pattern):
            _write(folder / "scenarios" / name / path.name, path.read_text("utf-8"))


def make_world(folder: Path) -> None:
    """Lay all that the reference pages name."""
    make_project(folder)
    for name in ("my_agent.py", "my_app.py"):
        _write(folder / name, AGENT)
    _write(folder / "test_my_agent.py", A_TEST)
    _write(folder / "pyproject.toml", CONFIGURATION)
    _write(folder / "overlay.yaml", OVERLAY)
    _write(folder / "my_parts.py", MY_PARTS)
    for name in ("cassettes", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copytree(ROOT / "examples" / "node_agent", folder / "node_agent")
    shutil.copy(ROOT / "examples" / "node_agent.mjs", folder / "my_agent.mjs")
    shutil.copytree(ROOT / "cassettes", folder / "tests" / "cassettes")
    for name in ("session.jsonl", "logs/session.jsonl", ".claude/projects/mine/session.jsonl"):
        _write(folder / name, "".join(json.dumps(line) + "\n" for line in _session()))
    _keep_runs(folder)


def _session() -> Iterator[dict[str, object]]:
    """The log of Claude Code: eight questions; for the seventh it repeats a search that fails."""
    for turn in range(1, 9):
        yield _line("user", f"Where is the order {turn}?")
        for call in (f"toolu_{n}" for n in range(8 if turn == 7 else 0)):
            use = {"type": "tool_use", "id": call, "name": "search", "input": {"query": "order"}}
            yield _line("assistant", [use], f"msg_{call}")
            result = {"type": "tool_result", "tool_use_id": call, "content": "no index"}
            yield _line("user", [{**result, "is_error": True}])
        yield _line("assistant", [{"type": "text", "text": "It is on its way."}], f"msg_{turn}")


def _line(role: str, content: object, answer: str = "") -> dict[str, object]:
    message = {"role": role, "content": content, **({"id": answer} if answer else {})}
    return {"type": role, "sessionId": "lost", "isSidechain": False, "message": message}


def _keep_runs(folder: Path) -> None:
    (greeting,) = (b for b in blocks(ROOT / "README.md", "yaml") if "name: greeting" in b)
    _write(folder / "scenarios" / "greeting.yaml", greeting)
    for name in ("greeting.yaml", "loops/circles.yaml"):
        scenario = load_scenarios(folder / "scenarios" / name)[0]
        run(scenario, reference, out=folder / ".harness" / "runs")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
