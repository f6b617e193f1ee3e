"""The targets of the data file, each installed into its own environment below `.field/`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from harness.core.values.profile import Profile
from harness.files.profile_file import load_profile
from harness.targets.known import known

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".field"

CONNECTED_AS = "connected"
"""The name of an agent that keeps its sessions, in the module of its framework."""

CHEAP = (
    "pydantic_ai", "openai_agents", "langchain", "google_adk", "agent_framework", "ai_sdk",
    "gemini-cli",
)  # fmt: skip
"""What `make test-real` installs and plays: six frameworks and a program. Others are nightly."""


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is installed of a target, and what it plays: the head of `targets.toml` explains it."""

    language: str
    plays: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    shares: str = ""
    program: str = ""
    connected: str = ""
    world: str = "simulate"
    sample: int = 0
    only: str = ""

    @property
    def package(self) -> str:
        """The package whose version is the target's, as it is pinned; "" of one that shares."""
        return next(iter((*self.packages, *self.node)), "")


def targets() -> dict[str, Target]:
    """The targets by name."""
    text = (HERE / "targets.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), type=dict[str, Target])


def played() -> dict[str, Target]:
    """The targets that play scenarios. The tests alone use the others: `only` says which."""
    return {name: target for name, target in targets().items() if target.plays}


def is_same(target: str, other: str) -> bool:
    """Whether two names are of one target: modules have `_` where findings have `-`."""
    return target.replace("_", "-") == other.replace("_", "-")


def version_of(name: str) -> tuple[str, str]:
    """The package of a target, without its extras, and its pinned version."""
    target = targets()[name]
    package = target.package or targets()[target.shares].package
    named, _, version = package.rpartition("==" if "==" in package else "@")
    return named.partition("[")[0], version


def home_of(name: str) -> Path:
    """The environment of a target."""
    return ENVIRONMENTS / (targets()[name].shares or name)


def python_of(name: str) -> Path:
    """The Python that runs the harness for a target: that of its framework, else this one."""
    target, python = targets()[name], home_of(name) / "bin" / "python"
    is_own = not (target.node or target.program)
    return python if is_own else Path(sys.executable)


def path_of(name: str) -> str:
    """The PATH for a target: the programs that came with it first, such as another Node."""
    return os.pathsep.join((str(home_of(name) / "node_modules" / ".bin"), os.environ["PATH"]))


def is_installed(name: str) -> bool:
    """Whether the environment of a target has what the data file says."""
    target = targets()[targets()[name].shares or name]
    mark = home_of(name) / ".ready"
    return mark.exists() and mark.read_text(encoding="utf-8") == _wanted(target)


def require(name: str, is_there: bool) -> None:
    """Skip a test whose target is not there; in CI, where `make test-real` installs it, fail."""
    if is_there:
        return
    reason = f"not installed: python -m tests.field --install {name}"
    if os.environ.get("CI") and name in CHEAP:
        pytest.fail(reason)
    pytest.skip(reason)


def options_of(name: str) -> tuple[str, ...]:
    """What names the target on a command line of the harness."""
    target = targets()[name]
    if not target.program:
        return ("--profile", str((HERE / "frameworks" / f"{name}.toml").relative_to(ROOT)))
    is_of_npm = targets()[target.shares or name].node
    folder = home_of(name) / ("node_modules/.bin" if is_of_npm else "bin")
    return ("--target", f"{name}?program={folder / target.program}")


def sessions_of(name: str) -> tuple[str, ...]:
    """As `options_of`, for the agent of a framework that keeps its sessions in the run's folder."""
    target = targets()[name]
    if not target.connected:
        return options_of(name)
    agent = f"tests.field.frameworks.{name}:{CONNECTED_AS}"
    return ("--target", agent, "--no-config", "--world", target.world)


def profile_of(name: str) -> Profile:
    """What the target says that it is."""
    if targets()[name].program:
        return known()[name].profile
    return load_profile(HERE / "frameworks" / f"{name}.toml")


def install(name: str) -> None:
    """Install a target, unless it is. Raises CalledProcessError when a package cannot be."""
    target, folder = targets()[name], home_of(name)
    if target.shares:
        return install(target.shares)
    if target.node and not target.program:
        _copy_node_adapter(folder)
    if is_installed(name):
        return None
    if target.node:
        folder.mkdir(parents=True, exist_ok=True)
        _call("npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *target.node)
    else:
        own = [] if target.program else ["--editable", f"{ROOT}{_extras(target)}"]
        # The pip of this environment installs into it: a pip in each would cost seconds.
        _call(sys.executable, "-m", "venv", "--without-pip", str(folder))
        pip = (sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install")
        # Most modules are never imported; Python compiles those that are, at their first import.
        _call(*pip, "-q", "--no-compile", *own, *target.packages)
    (folder / ".ready").write_text(_wanted(target), encoding="utf-8")
    return None


def _extras(target: Target) -> str:
    return f"[{','.join(target.extras)}]" if target.extras else ""


def _copy_node_adapter(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "frameworks" / "ai_sdk.mjs", folder)
    shutil.copy(ROOT / "harness" / "adapters" / "ai_sdk.mjs", folder / "adapter.mjs")


def _wanted(target: Target) -> str:
    return "\n".join((*target.extras, *target.packages, *target.node))


def _call(*command: str) -> None:
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ})
