"""`harness init`: a folder is set up and stays so; inputs that it cannot use are one line each."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import msgspec
import pytest

from harness.cli import import_trial, main, project_plan
from harness.cli.verbs import Verbs
from harness.configuration import load_configuration
from harness.files.bundle import bundled
from harness.schema import schema_of
from harness.starter.starter_files import EXAMPLE, STARTERS, setup_of, starter_files, template
from tests.cli.talks import REFERENCE, Command, Done
from tests.starter.projects import LOOP, OPENAI, PROJECT

REQUIREMENT = "loop-harness==9.9"
"""What the project's workflow installs."""


@pytest.fixture
def init(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """`harness init` in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    monkeypatch.setattr(project_plan, "harness_source", lambda folder, files: REQUIREMENT)

    def run(*words: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(("init", *words))
        said = capsys.readouterr()
        return Done(ended.value.code, said.out, said.err)

    return run


def written(folder: Path) -> dict[str, str]:
    """The files of a folder, histories apart."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {
        name: path.read_text("latin-1")
        for name, path in names.items()
        if not name.startswith((".harness/runs", ".pytest_cache")) and "__pycache__" not in name
    }


BAD: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "a broken pyproject.toml": (
        {"pyproject.toml": "[project\nx = 1\n"}, (), "pyproject.toml:1: not TOML",
    ),
    "a broken harness.toml": ({"harness.toml": "seed =\n"}, (), "harness.toml:1: not TOML"),
    "two configurations": (
        {"harness.toml": "seed = 1\n", "pyproject.toml": "[tool.harness]\nseed = 1\n"}, (),
        "pyproject.toml has [tool.harness] too",
    ),
    "an unknown key": (
        {"pyproject.toml": "[tool.harness]\ntargit = 'x'\n"}, (), "did you mean 'target'?",
    ),
    "a profile that is not there": (
        {"pyproject.toml": "[tool.harness]\nprofile = 'mine'\n"}, (), "no profile of this name",
    ),
    "not UTF-8": ({"pyproject.toml": "name = 'M\xfcller'\n"}, (), "not UTF-8 at byte 9"),
    "a function that is not there": (
        {"bot.py": LOOP}, ("--target", "bot:chatt"), "bot.py has no 'chatt'; did you mean 'chat'?",
    ),
    "no target": ({}, ("--target", "referense"), "did you mean 'reference'?"),
    "no program": ({}, ("--target", "process:nosuchprogram x"), "no such program: nosuchprogram"),
    "an open quote": ({}, ("--target", "process:node 'x"), "the command cannot be read"),
    "an empty command": ({}, ("--target", "process:"), "`process:` needs a command"),
    "three candidates": (
        {f"{name}/main.py": OPENAI for name in "abc"}, (),
        "a.main:ask (a/main.py:6), b.main:ask (b/main.py:6), c.main:ask",
    ),
    "a library and no function": (
        {"pyproject.toml": PROJECT, "x.py": "print(1)\n"}, (), "name one: --target MODULE:FUNCTION",
    ),
    "an agent.py without a model": (
        {"agent.py": "print('hello')\n"}, (), "no agent was found in its code (agent.py)",
    ),
    "two targets": (
        {"harness.toml": "target = 'bot:chat'\n"}, ("--target", REFERENCE),
        "the configuration names 'bot:chat': change it there",
    ),
    "a notebook": ({"a.ipynb": "{}"}, (), "a notebook cannot be imported"),
    "a program in another language": ({"cmd/main.go": "package main\n"}, (), "(cmd/main.go)"),
    "code in a folder that is not read": ({"dist/app.py": "x = 1\n"}, (), "(dist/app.py)"),
    "a wrong flag": ({}, ("--targte", "x"), "--target"),
    "a word too many": ({}, ("here",), "unexpected extra argument"),
    "a plug-in that is not there": ({}, ("--plugin", "no_such_part"), "no_such_part"),
}  # fmt: skip
"""What stands in the folder, the words behind `init`, and a part of the one line that it says."""


@pytest.mark.parametrize("kind", BAD)
def test_a_line_says_what_is_wrong(kind: str, init: Command, tmp_path: Path) -> None:
    files, words, says = BAD[kind]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "latin-1")
    done = init(*words)
    assert done.status == 2
    assert says in done.err
    first, *rest = [line for line in done.err.splitlines() if not line.startswith("probing")]
    assert first.startswith("error: ")
    assert [line for line in rest if not line.startswith("  see: ")] == []
    assert written(tmp_path) == files


def test_a_folder_that_cannot_be_written(
    init: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(project_plan.tempfile, "TemporaryFile", refuse)
    done = init()
    assert done.status == 2
    assert done.err == (
        "error: .: no file can be written here: Read-only file system; "
        "`--dry-run` shows the files\n"
    )


TRIALS: dict[str, tuple[str, str]] = {
    "raises": (
        "import anthropic\n\nraise ValueError('no key')\n",
        "ValueError: no key at bot.py:3",
    ),
    "lacks a package": ("import nosuchpackage\n", "'nosuchpackage' at bot.py:1; install what it"),
    "is not Python": ("def (\n", "SyntaxError: invalid syntax (bot.py, line 1) at bot.py:1"),
    "exits": ("import sys\n\nsys.exit(3)\n", "SystemExit: 3 at bot.py:3"),
    "ends its process": ("import ctypes\n\nctypes.CDLL(None)._exit(7)\n", "with status 7"),
    "hangs": ("import time\n\ntime.sleep(99)\n", "takes more than 1 s at bot.py:3"),
}


@pytest.mark.real
@pytest.mark.parametrize("kind", TRIALS)
def test_an_import_that_fails_is_told_with_its_line(
    kind: str, init: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_trial, "LIMIT_S", 1.0 if kind == "hangs" else 20.0)
    text, says = TRIALS[kind]
    (tmp_path / "bot.py").write_text(text)
    done = init("--target", "bot:chat?x=1")
    assert done.status == 2
    assert says in done.err
    assert len(done.err.splitlines()) == 1
    assert written(tmp_path) == {"bot.py": text}


@pytest.fixture
def set_up(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Set a folder up with the example as `init` does, without its probes."""

    def make(**changed: str) -> dict[str, str]:
        facts = {"schema": json.dumps(schema_of("scenario"), indent=2) + "\n", "wire": ""}
        facts["requirement"] = REQUIREMENT
        made = starter_files(setup_of(EXAMPLE, {}), STARTERS[0], {}, facts)
        files = {file.path: file.text for file in made}
        profile = 'profile = "agent"\n\n[profiles.agent]\ntarget = "agent:agent"\n'
        files |= {"agent.py": template("agent.py.txt"), "harness.toml": profile}
        files |= {".harness/.gitignore": "*\n", **changed}
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return files

    return make


def test_a_second_init_changes_nothing_and_says_so(
    init: Command, tmp_path: Path, set_up: Callable[..., dict[str, str]]
) -> None:
    before = set_up()
    done = init()
    assert done.status == 0
    assert "no changes: the project is set up" in done.out
    assert "written" not in done.out
    assert "pytest test_harness.py" in done.out
    assert written(tmp_path) == before


SKILL = "loop-harness/SKILL.md"


@pytest.mark.parametrize(
    ("words", "folder"),
    [(("--skill",), ".claude/skills"), (("--skill", "tools/skills/"), "tools/skills")],
    ids=["its place", "a folder"],
)
def test_a_skill_is_written_where_it_is_asked_for_and_nothing_is_played(
    init: Command, tmp_path: Path, set_up: Callable[..., dict[str, str]],
    words: tuple[str, ...], folder: str,
) -> None:  # fmt: skip
    before = set_up()
    assert f"to be written    {folder}/{SKILL}" in init("--dry-run", *words).out
    assert written(tmp_path) == before
    done = init(*words)
    assert (done.status, "$ harness run" in done.out) == (0, False)
    after = written(tmp_path)
    text = after.pop(f"{folder}/{SKILL}")
    assert after == before
    head = msgspec.yaml.decode(text.split("---\n")[1])
    assert set(head) == {"name", "description"}
    assert f"{head['name']}/SKILL.md" == SKILL
    assert "no changes" in init(*words).out


def test_a_skill_that_was_changed_stays_and_a_file_in_its_way_is_named(
    init: Command, tmp_path: Path, set_up: Callable[..., dict[str, str]]
) -> None:
    before = set_up(**{f".claude/skills/{SKILL}": "mine", "notes": "a file"})
    assert f"kept         .claude/skills/{SKILL}" in init("--skill").out
    done = init("--skill", "notes/skills")
    assert (done.status, done.err) == (2, "error: notes: is a file; --skill takes a folder\n")
    assert written(tmp_path) == before


@pytest.mark.parametrize(
    ("there", "is_offered"),
    [("README", False), ("AGENTS.md", True), (".claude/settings.json", True),
     (f".claude/skills/{SKILL}", False), (f".agents/skills/{SKILL}", False)],
)  # fmt: skip
def test_the_skill_is_offered_where_a_coding_agent_works_without_it(
    init: Command, set_up: Callable[..., dict[str, str]], there: str, is_offered: bool
) -> None:
    set_up(**{there: "text"})
    assert ("harness init --skill" in init().out) == is_offered
    assert ("init --skill" in init("--skill").out) is False


def commands_of_the_skill() -> list[list[str]]:
    """The words of each command that the skill names, in blocks and in lines."""
    (source,) = bundled(f"@examples/skills/{SKILL}")
    found = re.findall(r"(?:^ *|`)harness ([^`\n]+)", source.read_text("utf-8"), re.MULTILINE)
    return [shlex.split(line) for line in found]


def test_the_skill_says_how_to_run_read_explain_import_and_shrink() -> None:
    verbs = {words[0] for words in commands_of_the_skill()}
    assert verbs >= {"init", "run", "show", "explain", "why", "judge", "import", "shrink", "fuzz"}


@pytest.mark.parametrize("words", commands_of_the_skill(), ids=" ".join)
def test_each_command_of_the_skill_can_be_typed(words: list[str]) -> None:
    """Its flags exist, and the names of what is in the package; the slow tier types them."""
    verb = Verbs().get_command(click.Context(Verbs()), words[0])
    assert verb is not None
    verb.make_context(words[0], words[1:])
    for name in (word for word in words if word.startswith("@")):
        assert bundled(name)


def test_a_file_that_is_there_stays_and_what_it_lacks_is_said(
    init: Command, tmp_path: Path, set_up: Callable[..., dict[str, str]]
) -> None:
    before = set_up(**{".pre-commit-config.yaml": "repos: []\n"})
    done = init("--json")
    lines = {
        line["path"]: line for line in map(json.loads, done.out.splitlines()) if "path" in line
    }
    kept = lines[".pre-commit-config.yaml"]
    assert kept["state"] == "kept"
    assert "entry: harness run scenarios" in kept["text"]
    assert "- repo: local" in init().out
    assert written(tmp_path) == before


@pytest.mark.real
def test_force_replaces_what_says_something_else_and_names_it(
    init: Command, tmp_path: Path, set_up: Callable[..., dict[str, str]]
) -> None:
    before = set_up()
    (tmp_path / "test_harness.py").write_text("# mine\n")
    kept = init()
    assert "kept         test_harness.py" in kept.out
    assert "--force replaces it" in kept.out
    assert "to be replaced   test_harness.py" in init("--dry-run", "--force").out
    assert written(tmp_path) == {**before, "test_harness.py": "# mine\n"}
    done = init("--force", "--json")
    states = {row["path"]: row["state"] for row in map(json.loads, done.out.splitlines())
              if "path" in row}  # fmt: skip
    assert states.pop("test_harness.py") == "replaced"
    assert set(states.values()) == {"unchanged"}
    assert written(tmp_path) == before


@pytest.mark.real
def test_a_wire_of_the_profile_makes_the_same_files_again(
    init: Command, tmp_path: Path, set_up: Callable[..., dict[str, str]]
) -> None:
    set_up()
    with (tmp_path / "harness.toml").open("a") as file:
        file.write('wires = ["openai-chat"]\n')
    init("--force")
    before = written(tmp_path)
    assert "wire: openai-chat" in before["scenarios/failing-tool.yaml"]
    assert "no changes" in init().out
    assert written(tmp_path) == before


def test_in_a_folder_below_the_repository_no_workflow_is_written(
    init: Command, tmp_path: Path, set_up: Callable[..., dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    before = set_up()
    (tmp_path / ".github/workflows/harness.yml").unlink()
    monkeypatch.setattr(project_plan, "_is_below_repository", lambda folder: True)
    done = init()
    assert "not written  .github/workflows/harness.yml" in done.out
    assert written(tmp_path) == {k: v for k, v in before.items() if "workflows" not in k}


@pytest.mark.real
def test_an_empty_folder_gets_an_agent_whose_mend_passes(init: Command, tmp_path: Path) -> None:
    """The example fails first, in pytest too; with the lines that `init` prints it passes."""
    done = init()
    assert done.status == 0
    made = written(tmp_path)
    assert load_configuration(tmp_path).profiles["agent"].target == "agent:agent"
    mend = template("mend.txt")
    assert mend.rstrip() in done.out
    assert _played(tmp_path) == 1
    results, loop = "for call in calls]\n        messages", "    while True:\n"
    assert (made["agent.py"].count(results), made["agent.py"].count(loop)) == (1, 1)
    mended = made["agent.py"].replace(results, results.replace("\n", f"\n{mend}", 1))
    (tmp_path / "agent.py").write_text(mended.replace(loop, f"    failures = 0\n{loop}"))
    assert _played(tmp_path) == 0
    again = init()
    assert "no changes" in again.out


def _played(folder: Path) -> int:
    """The exit status of pytest in a folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_harness.py"]
    return subprocess.run(command, cwd=folder, check=False, timeout=120).returncode


UNREAD = "    return out.choices[0].message.content"
READ = """    if out.choices[0].finish_reason == "length":
        raise Cut("the answer is too long")
    return out.choices[0].message.content


class Cut(Exception):
    pass
"""
"""What the first scenario asks of the client: it reads the stop reason."""


@pytest.mark.real
@pytest.mark.nightly
def test_an_unchanged_client_is_played_by_an_adapter(init: Command, tmp_path: Path) -> None:
    """A loop with a global client that is made at import, and a pyproject.toml with comments."""
    before = '# mine\n[project]\nname = "x" # kept\n\n[tool.ruff]\nline-length = 90\n'
    (tmp_path / "main.py").write_text(OPENAI)
    (tmp_path / "pyproject.toml").write_text(before)
    done = init("--json")
    assert done.status == 0
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert lines[-1]["target"] == "harness_agent:agent?mount=true"
    assert (tmp_path / "pyproject.toml").read_text().startswith(before)
    profile = load_configuration(tmp_path).chosen_profile("", tmp_path)
    assert profile.wires == ("openai-chat",)
    # The error of a client is told by the function's caller, so a model that is overloaded is not
    # what fails first.
    assert "wire: openai-chat" in (tmp_path / "scenarios/cut-answer.yaml").read_text()
    assert _played(tmp_path) == 1
    main = tmp_path / "main.py"
    mended = main.read_text().replace(UNREAD, READ)
    assert mended != main.read_text()
    main.write_text(mended)
    adapter = tmp_path / "harness_agent.py"
    told = "TOLD: tuple[type[Exception], ...] = ()"
    adapter.write_text(adapter.read_text().replace(told, "TOLD = (project.Cut,)"))
    assert _played(tmp_path) == 0
