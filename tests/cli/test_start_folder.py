"""A folder from outside: which of its files run when a command is started in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.import_path import OURS
from tests.cli.talks import REFERENCE

CONSOLE = (str(Path(sys.executable).with_name("harness")),)
MODULE = (sys.executable, "-m", "harness")

SHADOWS = sorted(
    {name for name in sys.stdlib_module_names if not name.startswith("_")}
    | OURS
    | {"conftest", "setup", "sitecustomize", "usercustomize", "openai", "pydantic", "socketpool"}
)
"""The modules that the folder brings: each would be imported in place of another one."""


CONFIGURATION = """\
[tool.harness]
plugins = ["my_parts"]
target = "my_agent:agent"
profile = "mine"
[tool.harness.profiles.mine]
target = "my_agent:agent"
"""

SCENARIO = "name: hello\ninbox: Hello\nscript: [{say: Good morning.}]\n"

TELLS = """\
import os
with open(os.environ["RAN"], "a") as file:
    file.write(__name__ + "\\n")
"""

AGENT = """
def agent(brief):
    for message in brief.inbox():
        client = brief.anthropic()
        asked = [{"role": "user", "content": message.text}]
        reply = client.messages.create(model="any", max_tokens=9, messages=asked)
        brief.send(reply.content[0].text, in_reply_to=message.id)
"""

PARTS = "\ndef polite(history):\n    return iter(())\n"

LOG = '{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}\n'


class Folder:
    """The folder from outside; `ran` are the modules of it that ran."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.path, self._home, self._mark = folder, home, home / "ran"
        for name in (*SHADOWS, "my_parts"):
            (folder / f"{name}.py").write_text(TELLS + (PARTS if name == "my_parts" else ""))
        (folder / "my_agent.py").write_text(TELLS + AGENT)
        (folder / "pyproject.toml").write_text(CONFIGURATION)
        (folder / "scenarios").mkdir()
        (folder / "scenarios" / "hello.yaml").write_text(SCENARIO)
        (folder / "talk.jsonl").write_text(LOG)
        (folder / "other.jsonl").write_text(LOG)

    def run(self, *words: str, **env: str) -> tuple[int, str, set[str]]:
        """The status of a command, what it said, and the modules of the folder that ran."""
        self._mark.unlink(missing_ok=True)
        named = {"HOME": str(self._home), "RAN": str(self._mark), "PATH": os.environ["PATH"]}
        done = subprocess.run(words, cwd=self.path, env={**named, **env}, timeout=120, check=False,
                              capture_output=True, text=True)  # fmt: skip
        ran = set(self._mark.read_text().split()) if self._mark.exists() else set()
        return done.returncode, done.stdout + done.stderr, {n.rpartition(".")[0] or n for n in ran}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """The folder, beside a home folder of the user."""
    for name in ("theirs", "home"):
        (tmp_path / name).mkdir()
    return Folder(tmp_path / "theirs", tmp_path / "home")


READS = {
    "version": ("--version",),
    "help": ("run", "--help"),
    "judge": ("judge", "talk.jsonl"),
    "judge in workers": ("judge", "talk.jsonl", "other.jsonl", "-j", "2"),
    "show": ("show", ".harness/runs/hello"),
    "list": ("list", "checks"),
    "explain": ("explain", "outbound_once"),
    "config": ("config",),
    "schema": ("schema", "scenario"),
    "copy": ("copy", "@loops/circles"),
    "import": ("import", "talk.jsonl", "--name", "talk"),
    "diff": ("diff", ".harness/a", ".harness/b"),
    "run of no target of theirs": (
        "run", "scenarios", "--target", REFERENCE, "--no-config", "-j", "2",
    ),
}  # fmt: skip
"""Commands that name no target and no plug-in of the folder."""


@pytest.mark.real
@pytest.mark.parametrize("verb", READS)
def test_a_command_that_names_nothing_of_the_folder_runs_nothing_of_it(
    verb: str, folder: Folder
) -> None:
    status, said, ran = folder.run(*CONSOLE, *READS[verb])
    assert ran == set(), said
    assert status in (0, 1, 2), said
    assert "Traceback" not in said


@pytest.mark.real
@pytest.mark.parametrize("verb", ["judge in workers", "list", "explain", "config"])
def test_nor_does_python_m(verb: str, folder: Folder) -> None:
    for name in ("harness", "runpy", "types", "warnings"):  # Python imports them: SECURITY.md
        (folder.path / f"{name}.py").unlink()
    status, said, ran = folder.run(*MODULE, *READS[verb])
    assert (ran, status) == (set(), 0), said


@pytest.mark.real
@pytest.mark.parametrize("verb", ["judge in workers", "list", "explain", "config"])
def test_nor_does_an_empty_entry_of_the_path(verb: str, folder: Folder) -> None:
    """What Python itself imports before the harness begins is found there, and no more."""
    for path in folder.path.glob("*.py"):
        if path.stem not in {*OURS - {"harness"}, "conftest", "json", "setup", "tomllib"}:
            path.unlink()
    status, said, ran = folder.run(*CONSOLE, *READS[verb], PYTHONPATH=":/nowhere")
    assert (ran, status) == (set(), 0), said


PLAYS = {
    "run": ("run", "scenarios"),
    "run in workers": ("run", "scenarios", "@loops/circles", "-j", "2"),
    "doctor": ("doctor",),
    "init": ("init",),
    "fuzz": ("fuzz", "--examples", "1", "--out", "found"),
    "shrink": ("shrink", "scenarios/hello.yaml"),
    "record": ("record", "x.yaml", "--target", "my_agent:agent", "--prompt", "hi"),
}


@pytest.mark.real
@pytest.mark.parametrize("verb", PLAYS)
def test_a_verb_that_plays_runs_what_the_configuration_names_and_no_more(
    verb: str, folder: Folder
) -> None:
    _, said, ran = folder.run(*CONSOLE, *PLAYS[verb], ANTHROPIC_API_KEY="dummy")
    assert ran <= {"my_agent", "my_parts"}, said
    assert "my_parts" in ran, said
