"""What pip installs loop-harness from, on a machine that is not this one.

An installation knows where it came from (`direct_url.json`, PEP 610): an index, a repository, a
file or a folder. What only this machine has is never written into a project.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from harness.core.values.messages import strings_in

NAME = "loop-harness"
_OURS = re.compile(r"\s*loop[-_.]harness\b(?!-)", re.IGNORECASE)
_GIT_S = 10


def harness_source(folder: Path, files: Mapping[str, str]) -> str:
    """Return what pip installs: what the project declares, else where this installation came from.

    "" where only this machine has it.
    """
    return next(_declared(files), "") or _installed(folder)


def _declared(files: Mapping[str, str]) -> Iterator[str]:
    """Yield the requirements of the project that name loop-harness, and no path of a machine."""
    for name in sorted(files):
        if re.fullmatch(r"requirements[^/]*\.(txt|in)", name):
            yield from _lines(line.partition(" #")[0] for line in files[name].splitlines())
    try:
        project = tomllib.loads(files.get("pyproject.toml", ""))
    except tomllib.TOMLDecodeError:
        return
    sources = _table(project, "tool", "uv", "sources")
    if not any(_OURS.fullmatch(name) for name in sources):
        yield from _lines(strings_in(_table(project, "project").get("dependencies")))
        yield from _lines(strings_in(_table(project, "project", "optional-dependencies")))
        yield from _lines(strings_in(_table(project, "dependency-groups")))


def _table(found: Any, *path: str) -> Mapping[str, Any]:
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _lines(requirements: Iterator[str]) -> Iterator[str]:
    for line in requirements:
        if _OURS.match(line) and not re.search(r"file:|@\s*[./~]", line):
            yield line.strip()


def _installed(folder: Path) -> str:
    try:
        installed = distribution(NAME)
    except PackageNotFoundError:
        return ""
    found: dict[str, Any] = json.loads(installed.read_text("direct_url.json") or "{}")
    url = str(found.get("url", ""))
    if not url:  # of an index, where versions stay
        return f"{NAME}=={installed.version}"
    if "vcs_info" in found:
        version = found["vcs_info"]
        return f"{NAME} @ {version['vcs']}+{_public(url)}@{version['commit_id']}"
    if not url.startswith("file:"):
        return f"{NAME} @ {_public(url)}"
    path = Path(unquote(urlsplit(url).path))
    if path.is_relative_to(folder) and path != folder:
        return f"./{path.relative_to(folder).as_posix()}"
    return _pushed(path) if "dir_info" in found else ""


def _public(url: str) -> str:
    """Return a URL without a password; the user `git` of ssh is none."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if at and (parts.scheme.startswith("http") or ":" in user):
        return urlunsplit(parts._replace(netloc=host))
    return url


def _pushed(clone: Path) -> str:
    """Return the commit of a clone, if it is known to be in the repository that it came from."""
    url = _git(clone, "remote", "get-url", "origin")
    commit = _git(clone, "rev-parse", "HEAD")
    is_remote = re.match(r"(https?|ssh|git)://", url) is not None
    if commit and is_remote and _git(clone, "branch", "--remotes", "--contains", commit):
        return f"{NAME} @ git+{_public(url)}@{commit}"
    return ""


def _git(clone: Path, *words: str) -> str:
    """Return what git says of a clone whose root this is; "" where it fails."""
    if not (clone / ".git").exists():
        return ""
    try:
        done = subprocess.run(["git", "-C", str(clone), *words], capture_output=True, text=True,
                              timeout=_GIT_S, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
