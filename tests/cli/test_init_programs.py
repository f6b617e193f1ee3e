"""`harness init` in projects of other languages, which have no package of any SDK.

Each answers a question and does not look at the stop reason, so its first red is a cut answer.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import command, environment

PROGRAMS = Path(__file__).parent / "programs_of_init"

pytestmark = pytest.mark.real


@pytest.fixture
def rust() -> str:
    """The path of the Rust compiler, where there is one; `.ci/run` installs none."""
    return shutil.which("rustc") or pytest.skip("rustc is not installed")


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """A folder with a built program in Go, where there is a compiler; `.ci/run` installs none."""
    compiler = shutil.which("go") or pytest.skip("go is not installed")
    shutil.copy(PROGRAMS / "helpdesk.go", tmp_path)
    build = [compiler, "build", "-o", "helpdesk", "helpdesk.go"]
    subprocess.run(build, cwd=tmp_path, check=True, timeout=240)
    return tmp_path


def _init(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("init", *words), cwd=folder, env=environment(), capture_output=True, text=True,
        check=False, timeout=240, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _first_red(folder: Path, *words: str) -> tuple[str, str]:
    """Set a project up; return its target, and the code that its first scenario finds first."""
    done = _init(folder, "--json", *words)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    (played,) = (row for row in rows if "findings" in row)
    return rows[-1]["target"], played["findings"][0]["code"]


def test_a_program_in_rust(tmp_path: Path, rust: str) -> None:
    (tmp_path / "src").mkdir()
    shutil.copy(PROGRAMS / "helpdesk.rs", tmp_path / "src/main.rs")
    subprocess.run([rust, "-o", "helpdesk", "src/main.rs"], cwd=tmp_path, check=True)
    target = "process:./helpdesk {text}"
    assert _first_red(tmp_path, "--target", target) == (
        target,
        "truthful_outcome.truncated",
    )


GO_TARGETS = ("process:./helpdesk {text}", "process:./helpdesk serve {port}?chat=/chat")


@pytest.mark.parametrize("target", GO_TARGETS)
def test_a_program_and_a_chat_endpoint_in_go(target: str, go: Path) -> None:
    assert _first_red(go, "--target", target) == (target, "truthful_outcome.truncated")
    (history,) = (go / ".harness" / "runs").rglob("history.jsonl")
    assert '"text":"First, fill in the form.' in history.read_text(), "the answer, not its JSON"


def test_a_program_of_another_language_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    shutil.copy(PROGRAMS / "helpdesk.rs", tmp_path / "src/main.rs")
    done = _init(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "src/main.rs" in done.stderr
    assert "process:COMMAND {text}" in done.stderr
    assert not (tmp_path / "agent.py").exists()


def test_a_server_in_node(tmp_path: Path, node: str) -> None:
    shutil.copy(PROGRAMS / "helpdesk_server.js", tmp_path / "server.mjs")
    target = "process:node server.mjs?chat=/chat&text=text"
    assert _first_red(tmp_path) == (target, "truthful_outcome.truncated")


def test_a_function_in_node_is_found(tmp_path: Path, node: str) -> None:
    shutil.copy(PROGRAMS / "helpdesk.mjs", tmp_path)
    shutil.copy(PROGRAMS / "package.json", tmp_path)
    done = _init(tmp_path, "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    first = next(row["findings"][0] for row in rows if "findings" in row)
    assert (rows[-1]["target"], first["code"]) == (
        "process:node harness_agent.mjs",
        "target.crashed",
    )
    assert " at helpdesk.mjs:" in first["message"]  # and not the copy's path
    assert "helpdesk.mjs" in (tmp_path / "harness_agent.mjs").read_text()


def test_a_compiled_project_is_imported_from_its_output(tmp_path: Path, node: str) -> None:
    (tmp_path / "dist").mkdir()
    shutil.copy(PROGRAMS / "helpdesk.mjs", tmp_path / "dist/agent.js")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/agent.ts").write_text(
        "export async function helpdesk(text: string): Promise<string> {\n"
        "  const base = process.env.ANTHROPIC_BASE_URL;\n"
        "  return (await fetch(`${base}/v1/messages`, {body: text})).text();\n}\n"
    )
    package = {"name": "helpdesk", "type": "module", "main": "dist/agent.js"}
    (tmp_path / "package.json").write_text(json.dumps(package))
    options = {"compilerOptions": {"outDir": "dist", "rootDir": "src"}}
    (tmp_path / "tsconfig.json").write_text(json.dumps(options))
    _first_red(tmp_path)
    assert "./dist/agent.js" in (tmp_path / "harness_agent.mjs").read_text()
