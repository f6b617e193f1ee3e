"""The rows of the data file, each in its own environment below `.venv-compat/`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".venv-compat"

_PROBE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A version of Python, the packages that differ from constraints.txt, and what is played."""

    python: str
    plays: str
    packages: dict[str, str] = {}


class PlayedSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a row plays: tests of the fast tier, and the reference agent on scenarios."""

    tests: tuple[str, ...]
    scenarios: tuple[str, ...]
    wires: tuple[str, ...]


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`rows.toml`."""

    rows: dict[str, Row]
    sets: dict[str, PlayedSet]


def data() -> Data:
    """The rows by name, and what they play."""
    text = (HERE / "rows.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), type=Data)


def python_of(name: str) -> Path:
    """The Python of a row's environment."""
    return ENVIRONMENTS / name / "bin" / "python"


def interpreter(version: str) -> str | None:
    """A Python of this version that can make environments: on the path, or one of pyenv's."""
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    on_path = [shutil.which(f"python{version}", path=folder) for folder in os.get_exec_path()]
    of_pyenv = map(str, sorted(home.glob(f"versions/{version}.*/bin/python")))
    return next((p for p in (*filter(None, on_path), *of_pyenv) if _is_version(p, version)), None)


def _is_version(python: str, version: str) -> bool:
    done = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def install(name: str) -> None:
    """Make the environment of a row, unless it is there as the files say.

    Raises FileNotFoundError without such a Python, CalledProcessError when pip fails.
    """
    row, mark = data().rows[name], ENVIRONMENTS / name / ".ready"
    wanted = _wanted(row)
    if mark.exists() and mark.read_text(encoding="utf-8") == wanted:
        return
    python = interpreter(row.python)
    if python is None:
        raise FileNotFoundError(f"this machine has no Python {row.python} with venv")
    _call(python, "-m", "venv", "--clear", str(ENVIRONMENTS / name))
    _install_packages(name, row)
    mark.write_text(wanted, encoding="utf-8")


def _install_packages(name: str, row: Row) -> None:
    constraints = ENVIRONMENTS / name / "constraints.txt"
    constraints.write_text(_constraints(row), encoding="utf-8")
    _call(
        str(python_of(name)), "-m", "pip", "install", "--quiet", "--no-compile",
        "--editable", f"{ROOT}[dev]", "--constraint", str(constraints),
        *(f"{package}=={version}" for package, version in row.packages.items()),
    )  # fmt: skip


def _constraints(row: Row) -> str:
    """constraints.txt without the packages of the row."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if re.split("==", line)[0] not in row.packages)


def _wanted(row: Row) -> str:
    """What an environment holds; when this text changes, the environment is made again."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = (project["dependencies"], project["optional-dependencies"]["dev"])
    return f"{row}\n{asked}\n{_constraints(row)}"


def _call(*command: str) -> None:
    subprocess.run(command, check=True, cwd=ROOT)
