"""A project as texts: its known libraries, its candidates, and whether it holds any code at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from harness.core.values.errors import InputError, nearest
from harness.starter.candidate import Candidate, best, ranked
from harness.starter.dependencies import declared
from harness.starter.libraries import Library
from harness.starter.node_sources import SUFFIXES, node_candidates
from harness.starter.python_sources import defined, module_of, python_candidates

MANIFESTS = ("pyproject.toml", "uv.lock", "package.json")
"""The files that declare packages, with `requirements*.txt`."""

_SHOWN_MOST = 5
_NO_AGENTS = ("tests", "test", "__tests__", "spec")


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What the texts of a project show: libraries, candidates by weight, and files of code."""

    libraries: tuple[Library, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    sources: tuple[str, ...] = ()


def is_read(path: str) -> bool:
    """Whether the survey reads a file of this name."""
    name = PurePosixPath(path).name
    is_requirements = name.startswith("requirements") and name.endswith((".txt", ".in"))
    return name in MANIFESTS or is_requirements or _is_source(path)


def _is_source(path: str) -> bool:
    return path.endswith((".py", *SUFFIXES)) and not path.endswith(".d.ts")


def survey(files: Mapping[str, str]) -> Survey:
    """The survey of a project by its files: paths below its folder, and their texts."""
    sources = {path: text for path, text in files.items() if _is_source(path)}
    manifests = {path: text for path, text in files.items() if path not in sources}
    own = {path: text for path, text in sources.items() if not _is_test(path)}
    python = {path: text for path, text in own.items() if path.endswith(".py")}
    node = {path: text for path, text in own.items() if not path.endswith(".py")}
    found = ranked([*python_candidates(python), *node_candidates(node)])
    return Survey(
        libraries=declared(manifests), candidates=tuple(found), sources=tuple(sorted(sources))
    )


def _is_test(path: str) -> bool:
    *folders, name = PurePosixPath(path).parts
    is_ours = name in ("conftest.py", "setup.py", "harness_agent.py", "harness_agent.mjs")
    is_named = name.startswith("test_") or ".test." in name or ".spec." in name
    return is_ours or is_named or any(folder in _NO_AGENTS for folder in folders)


def proposal(found: Survey) -> Candidate | None:
    """The agent of a project; None where there is no code that asks a model.

    Raises InputError where several candidates are alike, and where none is seen beside a library.
    """
    chosen = best(found.candidates)
    if chosen or not (found.candidates or found.libraries or found.sources):
        return chosen
    if found.candidates:
        raise InputError(_choice(found.candidates), "--target")
    if not found.libraries:
        return None
    titles = ", ".join(row.title for row in found.libraries[:3])
    what = (
        f"the project declares {titles}, and no function from text to text was found; "
        "name one: --target MODULE:FUNCTION, or --target 'process:COMMAND' for a program"
    )
    raise InputError(what, "--target")


def _choice(candidates: Sequence[Candidate]) -> str:
    top = [one for one in candidates if one.weight == candidates[0].weight]
    shown = ", ".join(f"{one.spec} ({one.path}:{one.line})" for one in top[:_SHOWN_MOST])
    more = f" and {len(top) - _SHOWN_MOST} more" if len(top) > _SHOWN_MOST else ""
    return f"{len(top)} parts of the project may be the agent: {shown}{more}; name one of them"


def named(spec: str, files: Mapping[str, str], found: Survey) -> Candidate | None:
    """The candidate that a user names; None for a target with options, one that is not part of the
    project, and one whose file is not Python.

    Raises InputError for a name that the module has not.
    """
    for one in found.candidates:
        if spec in (one.spec, f"{one.path}:{one.name}"):
            return one
    module, _, name = spec.partition(":")
    path = next((p for p in files if p.endswith(".py") and module_of(p) == module), "")
    kinds = defined(files[path]) if path else None
    if kinds is None or not name.isidentifier():
        return None
    if name in kinds:
        return Candidate(path=path, line=1, kind=kinds[name], name=name, module=module)
    if re.search(rf"\b{re.escape(name)}\b", files[path]):
        return Candidate(path=path, line=1, kind="brief", name=name, module=module)
    raise InputError(f"{path} has no {name!r}; {nearest(name, kinds)}", f"--target {spec}")
