"""The set-up of the packages: npm installs what package.json pins, once, below .harness."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

PINS = Path(__file__).with_name("package.json")
FOLDER = Path(__file__).parents[2] / ".harness" / "npm"
INSTALL_S = 280


class NodePackages(NamedTuple):
    """Where the packages are, and a node that runs them (the conformance suite needs node 22)."""

    folder: Path
    node: Path


@pytest.fixture(scope="session")
def node_packages() -> NodePackages:
    """The installed packages. Without npm a test is skipped, but fails where `CI` is set."""
    npm = shutil.which("npm") or _absent("npm is missing: install npm")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install(npm)
    return NodePackages(FOLDER, FOLDER / "node_modules/node/bin/node")


def _install(npm: str) -> None:
    installed = FOLDER / ".installed"
    if installed.is_file() and installed.read_bytes() == PINS.read_bytes():
        return
    shutil.copy(PINS, FOLDER / PINS.name)
    words = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(FOLDER)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=INSTALL_S, cwd=FOLDER)
    except subprocess.TimeoutExpired:
        _absent(f"npm did not install {PINS} within {INSTALL_S} s")
    if done.returncode:
        _absent(f"npm could not install {PINS}: {done.stderr[-2000:]}")
    shutil.copy(PINS, installed)


def _absent(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
