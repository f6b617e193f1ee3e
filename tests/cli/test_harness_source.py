"""What the workflow of a project installs: a source that another machine has, or none."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import harness_source as module
from harness.cli.harness_source import harness_source

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The `direct_url.json` of the installation; {} for none."""
    found: dict[str, Any] = {}
    fake = SimpleNamespace(version="1.2", read_text=lambda name: json.dumps(found))
    monkeypatch.setattr(module, "distribution", lambda name: fake)
    return found


@pytest.mark.parametrize(
    ("direct_url", "source"),
    [
        ({}, "loop-harness==1.2"),
        (
            {"url": "https://x.example/h.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"loop-harness @ git+https://x.example/h.git@{COMMIT}",
        ),
        (
            {"url": "https://me:pw@x.example/h.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "loop-harness @ git+https://x.example/h.git@1",
        ),
        (
            {"url": "ssh://git@x.example/h.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "loop-harness @ git+ssh://git@x.example/h.git@1",
        ),
        (
            {"url": "https://x.example/h-1-py3-none-any.whl", "archive_info": {}},
            "loop-harness @ https://x.example/h-1-py3-none-any.whl",
        ),
        ({"url": "file:///nowhere/h-1-py3-none-any.whl", "archive_info": {}}, ""),
        ({"url": "file:///nowhere/h", "dir_info": {"editable": True}}, ""),
        ({"url": "file:///the/project/lib/h%20x", "dir_info": {}}, "./lib/h x"),
        ({"url": "file:///the/project/h.whl", "archive_info": {}}, "./h.whl"),
    ],
)
def test_where_it_came_from(
    direct_url: dict[str, Any], source: str, installed: dict[str, Any]
) -> None:
    installed.update(direct_url)
    assert harness_source(Path("/the/project"), {}) == source


@pytest.mark.parametrize(
    ("files", "source"),
    [
        ({"requirements-dev.txt": "pytest\nloop_harness[x]>=1 # tests\n"}, "loop_harness[x]>=1"),
        ({"pyproject.toml": '[project]\ndependencies = ["loop-harness~=1"]\n'}, "loop-harness~=1"),
        (
            {"pyproject.toml": '[project.optional-dependencies]\ndev = ["x", "loop-harness"]\n'},
            "loop-harness",
        ),
        ({"pyproject.toml": '[dependency-groups]\ndev = ["loop.harness==1"]\n'}, "loop.harness==1"),
        (
            {
                "pyproject.toml": '[dependency-groups]\ndev = ["loop-harness"]\n'
                "[tool.uv.sources]\nloop-harness = {path = '../h'}\n"
            },
            "loop-harness==1.2",
        ),
        ({"requirements.txt": "loop-harness @ file:///home/me/h\n"}, "loop-harness==1.2"),
        ({"requirements.txt": "loop-harness-extras\n-e ../loop-harness\n"}, "loop-harness==1.2"),
        ({"pyproject.toml": "[project\n"}, "loop-harness==1.2"),
    ],
)  # fmt: skip
def test_what_the_project_declares_comes_first(
    files: dict[str, str], source: str, installed: dict[str, Any]
) -> None:
    assert installed == {}
    assert harness_source(Path("/the/project"), files) == source


@pytest.mark.real
def test_a_clone_is_named_by_a_commit_that_its_repository_has(
    tmp_path: Path, installed: dict[str, Any]
) -> None:
    clone = tmp_path / "clone"

    def git(*words: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=e")
        done = subprocess.run(["git", "-C", clone, *who, *words], check=True, capture_output=True,
                              text=True)  # fmt: skip
        return done.stdout.strip()

    clone.mkdir()
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    installed.update(url=clone.as_uri(), dir_info={"editable": True})
    project = tmp_path / "project"
    assert harness_source(project, {}) == ""
    git("remote", "add", "origin", "https://me:pw@x.example/h.git")
    assert harness_source(project, {}) == "", "no one has seen the commit there"
    commit = git("rev-parse", "HEAD")
    git("update-ref", "refs/remotes/origin/main", commit)
    assert harness_source(project, {}) == f"loop-harness @ git+https://x.example/h.git@{commit}"
    git("commit", "-q", "--allow-empty", "-m", "two")
    assert harness_source(project, {}) == ""
