"""The package for npm, packed and installed: node:test, vitest, jest and the compiler play it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from harness import load_scenarios
from harness.cli.model import PACKAGE
from tests.node.conftest import NodePackages

pytestmark = pytest.mark.real

PROJECT = Path(__file__).with_name("npm_project")
TIMEOUT_S = 120


@pytest.fixture
def project(tmp_path: Path, node_packages: NodePackages) -> Path:
    """A project with the package, installed from its tarball beside the packages of npm."""
    shutil.copytree(PROJECT, tmp_path / "app")
    app, modules = tmp_path / "app", tmp_path / "app/node_modules"
    modules.mkdir()
    for each in (node_packages.folder / "node_modules").iterdir():
        (modules / each.name).symlink_to(each)
    _done(["npm", "pack", "--silent", "--pack-destination", str(tmp_path), str(PACKAGE)], app)
    (tarball,) = tmp_path.glob("loop-harness-*.tgz")
    shutil.unpack_archive(tarball, tmp_path, "gztar")
    (tmp_path / "package").rename(modules / "loop-harness")
    return app


def _done(words: list[str], folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HARNESS_COMMAND": f"{sys.executable} -m harness", **settings}
    return subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


def test_both_halves_have_one_version() -> None:
    assert json.loads((PACKAGE / "package.json").read_text())["version"] == version("loop-harness")


def test_node_test_plays_every_word(project: Path, node_packages: NodePackages) -> None:
    node = str(node_packages.node)
    done = _done([node, "--import", "loop-harness/register", "--test", "app.test.mjs"], project)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "fail 0" in done.stdout
    (run,) = load_scenarios(project / "saved/a-table.yaml")
    assert run.inbox[0].text == "A table, please"


def test_vitest_plays_typescript(project: Path, node_packages: NodePackages) -> None:
    settings = {"setupFiles": ["loop-harness/register"], "include": ["*.vitest.ts"]}
    config = f"export default {{ test: {json.dumps(settings)} }};"
    (project / "vitest.config.mjs").write_text(config)
    words = [str(node_packages.node), "node_modules/vitest/vitest.mjs", "run"]
    done = _done(words, project, NO_COLOR="1")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "2 passed" in done.stdout


def test_jest_plays_it(project: Path, node_packages: NodePackages) -> None:
    (project / "package.json").write_text("{}")
    words = [
        str(node_packages.node),
        "node_modules/jest/bin/jest.js",
        "--testMatch",
        "**/*.jest.cjs",
    ]
    done = _done(words, project)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_the_types_hold(project: Path, node_packages: NodePackages) -> None:
    options = {"strict": True, "noEmit": True, "module": "nodenext", "target": "es2022",
               "lib": ["es2022", "esnext.disposable", "dom"], "allowJs": True,
               "skipLibCheck": True}  # fmt: skip
    (project / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": options, "files": ["app.vitest.ts"]})
    )
    done = _done([str(node_packages.node), "node_modules/typescript/bin/tsc", "-p", "."], project)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-harness", "loop-harness for Python was not found"),
        (f"{sys.executable} -c pass", "the harness ended with status 0"),
        (
            f"{sys.executable} {PROJECT.parent / 'other_protocol.py'}",
            "install the package of that version",
        ),
    ],
)
def test_a_server_that_is_not_there_is_said(
    project: Path, node_packages: NodePackages, command: str, said: str
) -> None:
    script = (
        'const { fakeModel } = require("loop-harness");'
        'fakeModel().says("x").serve(() => 1).catch((error) => console.log(String(error)));'
    )
    done = _done([str(node_packages.node), "-e", script], project, HARNESS_COMMAND=command)
    assert done.returncode == 0
    assert said in done.stdout


def test_an_idle_server_does_not_keep_the_tests_alive(
    project: Path, node_packages: NodePackages
) -> None:
    script = 'require("loop-harness").begin().then(() => console.log("begun"));'
    done = _done([str(node_packages.node), "-e", script], project)
    assert (done.returncode, done.stdout) == (0, "begun\n")
