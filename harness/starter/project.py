"""A project as texts: its known libraries, its candidates, and whether it holds any code at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from harness.core.values.errors import InputError, nearest
from harness.core.values.table_file import package_text
from harness.starter.candidate import Candidate, best, ranked
from harness.starter.endpoints import python_endpoints
from harness.starter.libraries import Library, declared
from harness.starter.node_sources import SUFFIXES, node_candidates
from harness.starter.python_sources import (
    defined,
    module_of,
    near_a_model,
    python_candidates,
    python_sources,
)

MANIFESTS = ("pyproject.toml", "uv.lock", "package.json", "tsconfig.json")
"""The files that declare packages, with `requirements*.txt`, or where a compiler writes."""

_SHOWN_MOST = 5
_NO_AGENTS = ("tests", "test", "__tests__", "spec")


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What the texts of a project show: libraries, candidates by weight, and files of code.

    `projects` are the folders below it that declare packages of their own, as in a monorepo.
    """

    libraries: tuple[Library, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    sources: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()

    def home_of(self, path: str) -> str:
        """The folder of the nearest project that a file belongs to; "" for that of the survey."""
        inside = [folder for folder in self.projects if path.startswith(f"{folder}/")]
        return max(inside, key=len, default="")


def is_read(path: str) -> bool:
    """Whether the survey reads a file of this name."""
    name = PurePosixPath(path).name
    is_requirements = name.startswith("requirements") and name.endswith((".txt", ".in"))
    return name in MANIFESTS or is_requirements or _is_source(path)


def _is_source(path: str) -> bool:
    return path.endswith((".py", *SUFFIXES)) and not path.endswith(".d.ts")


_CODE = (
    ".c", ".cc", ".clj", ".cpp", ".cs", ".dart", ".ex", ".exs", ".go", ".hs", ".ipynb", ".java",
    ".jl", ".js", ".jsx", ".kt", ".lua", ".mjs", ".cjs", ".mts", ".php", ".pl", ".ps1", ".py",
    ".pyx", ".r", ".rb", ".rs", ".scala", ".sh", ".swift", ".ts", ".tsx", ".vue", ".zig",
)  # fmt: skip


def is_code(path: str) -> bool:
    """Whether a file is code, in any language."""
    return path.lower().endswith(_CODE)


def survey(files: Mapping[str, str], code: Sequence[str] = ()) -> Survey:
    """The survey of a project by its files: paths below its folder, and their texts.

    `code` are its files of code, also those that are not read.
    """
    sources = {path: text for path, text in files.items() if _is_source(path)}
    manifests = {path: text for path, text in files.items() if path not in sources}
    own = {path: text for path, text in sources.items() if not _is_test(path)}
    python = {path: text for path, text in own.items() if path.endswith(".py")}
    node = {path: text for path, text in own.items() if not path.endswith(".py")}
    parsed = python_sources(python)
    near = near_a_model(parsed)
    found = ranked([*python_candidates(parsed, near), *python_endpoints(parsed, near),
                    *node_candidates({**node, **manifests})])  # fmt: skip
    return Survey(
        libraries=declared(manifests),
        candidates=tuple(found),
        sources=tuple(sorted({*sources, *code})),
        projects=tuple(sorted({_folder(path) for path in manifests if _declares(path)} - {"."})),
    )


def _folder(path: str) -> str:
    return PurePosixPath(path).parent.as_posix()


def _declares(path: str) -> bool:
    return not path.endswith(("tsconfig.json", "uv.lock"))


def _is_test(path: str) -> bool:
    *folders, name = PurePosixPath(path).parts
    is_ours = name in ("conftest.py", "setup.py", "harness_agent.py", "harness_agent.mjs")
    is_named = name.startswith("test_") or ".test." in name or ".spec." in name
    return is_ours or is_named or any(folder in _NO_AGENTS for folder in folders)


def proposal(found: Survey) -> Candidate | None:
    """The agent of a project; None for a folder without code.

    Raises InputError where several candidates are alike, and where none is seen in the code. The
    best one may also belong to another project below this folder.
    """
    chosen = best(found.candidates)
    if chosen and (home := found.home_of(chosen.path)):
        what = f"{chosen.spec} belongs to the project in {home}: cd {home} && harness init"
        raise InputError(what, ".")
    if chosen or not (found.candidates or found.libraries or found.sources):
        return chosen
    if found.candidates:
        raise InputError(_choice(found.candidates), "--target")
    looked_for = package_text("harness.starter", "templates/looked_for.txt").rstrip()
    raise InputError(f"{_seen(found)}; {looked_for}", "--target")


def _seen(found: Survey) -> str:
    """What a project shows that has no agent to be seen."""
    titles = ", ".join([*dict.fromkeys(row.title for row in found.libraries)][:3])
    names = ", ".join(found.sources[:3])
    more = len(found.sources) - 3
    files = f"{names} and {more} more" if more > 0 else names
    declares = f"the project declares {titles}, and " if titles else ""
    code = f" in its code ({files})" if files else ", and no code"
    what = f"{declares}no agent was found{code}"
    if found.sources and all(name.endswith(".ipynb") for name in found.sources):
        what += "; a notebook cannot be imported: put the agent into a .py file"
    return what


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
