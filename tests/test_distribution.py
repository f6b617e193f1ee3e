"""The wheel brings everything that a user needs, and the sdist everything that its tests need.

Both are built once, without a network: the sdist from the tree, the wheel from the sdist. They are
tried in environments of their own, which borrow the other packages from this one.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.files.bundle import files_in

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[1]
WHEEL_MAX_BYTES = 3_000_000
BUILDERS = (77, 83)
"""From which version of setuptools on, and before which one, as pyproject.toml says."""

MADE = (".*", "build", "dist", "node_modules", "__pycache__", "*.egg-info")
"""What is not part of the source, except `.ci` and `.gitignore`."""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


class Built(NamedTuple):
    """The two archives, and the folder of the source that the sdist holds."""

    sdist: Path
    wheel: Path
    source: Path


def _run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR", "LANG")}
    return subprocess.run(
        [*map(str, words)], cwd=cwd, env=kept, capture_output=True, text=True, check=False,
        timeout=280, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _build(kind: str, source: Path, out: Path) -> Path:
    code = f"from setuptools import build_meta as b; print(b.build_{kind}({str(out)!r}))"
    done = _run(sys.executable, "-c", code, cwd=source)
    assert done.returncode == 0, done.stderr[-2000:]
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The archives; a test is skipped where setuptools is too old to build them."""
    version = importlib.metadata.version("setuptools")
    if not BUILDERS[0] <= int(version.partition(".")[0]) < BUILDERS[1]:
        pytest.skip(f"setuptools {version} cannot build the package: `make test-real` installs one")
    folder = tmp_path_factory.mktemp("built")
    ignored = shutil.ignore_patterns(*MADE)
    tree = shutil.copytree(ROOT, folder / "tree", ignore=ignored, symlinks=True)
    shutil.copytree(ROOT / ".ci", tree / ".ci")
    sdist = _build("sdist", tree, folder)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    return Built(sdist, _build("wheel", source, folder), source)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The Python of an environment into which the wheel was installed, read-only."""
    folder = tmp_path_factory.mktemp("installed")
    packages = _environment(folder)
    words = ("pip", "--python", folder / "bin/python", "install", "--no-deps", "--no-index")
    done = _run(sys.executable, "-m", *words, built.wheel, cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    _set_writable(packages / "harness", False)
    yield folder / "bin/python"
    _set_writable(packages / "harness", True)


def _environment(folder: Path) -> Path:
    """An environment without pip that borrows the packages of this one; its own come first."""
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    own = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "borrowed.pth").write_text("\n".join([*own, sysconfig.get_path("purelib")]) + "\n")
    return packages


def _set_writable(folder: Path, is_writable: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200 if is_writable else path.stat().st_mode & ~0o222)


@pytest.fixture
def harness(installed: Path, tmp_path: Path) -> Command:
    """The installed command, in an empty folder."""
    return lambda *words: _run(installed.with_name("harness"), *words, cwd=tmp_path)


def test_the_wheel_is_small_and_brings_every_file(built: Built) -> None:
    assert built.wheel.stat().st_size < WHEEL_MAX_BYTES
    with zipfile.ZipFile(built.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    bundle = {f"harness/bundle/{below.as_posix()}" for below in files_in(ROOT)}
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "harness").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == bundle | package


def test_the_description_is_the_readme_without_links_to_files(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    assert "Description-Content-Type: text/markdown" in text
    assert text.count("\n## ") == (ROOT / "README.md").read_text("utf-8").count("\n## ")
    assert re.findall(r"\]\((?!https://)[^)]*\)", text) == []
    said = " ".join(text.split())
    assert "the first failure comes within a minute" in said
    assert "What cannot be asked is not applicable" in said


def test_an_installed_package_plays_its_catalogue(harness: Command, tmp_path: Path) -> None:
    listed = harness("list", "scenarios")
    assert "@loops/circles " in listed.stdout, listed.stderr
    wrong = harness("run", "@loops/circles", "--only", "circles", "--target", "naive")
    assert wrong.returncode == 1
    assert "harness run @loops/circles --only circles --target naive" in wrong.stdout
    assert "no_progress_stop" in harness("show", "@loops/circles").stdout
    run = harness(
        "run", "@compaction/cut-in-half", "--only", "cut-in-half", "--target", "reference"
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert [path.name for path in tmp_path.iterdir()] == [".harness"]


def test_what_was_copied_from_an_installed_package_plays(harness: Command) -> None:
    for name in ("@loops/circles", "@examples/naive_agent"):
        copied = harness("copy", name)
        assert copied.returncode == 0, copied.stderr
    words = ("--only", "circles", "--target", "examples.naive_agent:agent")
    run = harness("run", "scenarios/loops", *words)
    assert run.returncode == 1, run.stderr
    assert "no_progress_stop.cycle" in run.stdout


def test_a_test_plays_the_installed_catalogue(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(play):\n    play('@compaction/cut-in-half', 'reference', variant='')\n"
    )
    done = _run(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_sdist_runs_its_tests(built: Built, tmp_path: Path) -> None:
    _environment(tmp_path)
    sample = ("tests/files/test_bundle.py", "tests/test_docs.py", "-k", "bundle or make or phony")
    words = ("-m", "pytest", "-q", "-x", "-m", "not real", "-p", "no:cacheprovider")
    done = _run(tmp_path / "bin/python", *words, *sample, cwd=built.source)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "skipped" not in done.stdout


def test_the_sdist_holds_the_source_tree(built: Built) -> None:
    named = {path.name for path in ROOT.iterdir() if not path.match(".*")}
    made = {name for name in named if any(Path(name).match(pattern) for pattern in MADE)}
    assert named - made <= {path.name for path in built.source.iterdir()}
