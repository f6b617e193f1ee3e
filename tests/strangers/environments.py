"""The frameworks of the data file, each installed into an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".strangers"


class Framework(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is installed of a framework, and what it plays; `shares` is whose environment it has.

    `extras` are those of the harness that its adapter needs.
    """

    plays: tuple[str, ...]
    packages: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    shares: str = ""


def frameworks() -> dict[str, Framework]:
    """The frameworks by name."""
    text = (HERE / "frameworks.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), type=dict[str, Framework])


def installed(name: str, framework: Framework) -> Path:
    """The Python that plays a framework, after its packages were installed.

    Raises CalledProcessError when a package cannot be installed.
    """
    if framework.node:
        _install_node(ENVIRONMENTS / name, framework.node)
        return Path(sys.executable)
    if framework.shares:
        return installed(framework.shares, frameworks()[framework.shares])
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    wanted = (*framework.extras, *framework.packages)
    if _is_ready(folder, wanted):
        return python
    own = f"{ROOT}[{','.join(framework.extras)}]" if framework.extras else str(ROOT)
    _call(sys.executable, "-m", "venv", str(folder))
    _call(str(python), "-m", "pip", "install", "-q", "--editable", own, *framework.packages)
    (folder / ".ready").write_text("\n".join(wanted), encoding="utf-8")
    return python


def _install_node(folder: Path, packages: tuple[str, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "frameworks" / "ai_sdk.mjs", folder)
    shutil.copy(ROOT / "harness" / "adapters" / "ai_sdk.mjs", folder / "adapter.mjs")
    if not _is_ready(folder, packages):
        _call("npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages)
        (folder / ".ready").write_text("\n".join(packages), encoding="utf-8")


def _is_ready(folder: Path, packages: tuple[str, ...]) -> bool:
    mark = folder / ".ready"
    return mark.exists() and mark.read_text(encoding="utf-8") == "\n".join(packages)


def _call(*command: str) -> None:
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ})
