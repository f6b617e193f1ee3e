"""Agents in JavaScript and TypeScript sources, found by their exports, and how Node starts them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from harness.core.values.errors import InputError
from harness.starter.candidate import TEXTS, Candidate
from harness.starter.endpoints import node_endpoints
from harness.starter.libraries import imported, package_json

SUFFIXES = (".mjs", ".js", ".cjs", ".ts", ".mts")
"""How the name of a source of Node ends."""

_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["']([^"']+)["']""")
_EXPORTED = re.compile(
    r"^export\s++(?:default\s++)?(?:async\s++)?function\s*+(\w*+)\s*+\(\s*+(\w++)([^)]{0,2000}+)\)|"
    r"^export\s++const\s++(\w++)\s*+=\s*+(?:async\s*+)?(?:\(\s*+)?(\w++)([^)=]{0,2000}+)\)?[^=\n]{0,500}+=>",
    re.MULTILINE,
)
_FUNCTION = re.compile(
    r"^(?:async\s++)?function\s++(\w++)\s*+\(\s*+(\w++)([^)]{0,2000}+)\)", re.MULTILINE
)
_CLASS = re.compile(r"^(export\s+)?(default\s+)?class\s+(\w+)[^{\n]{0,200}\{", re.MULTILINE)
_METHOD = re.compile(
    r"^(?: {2}| {4}|\t)(?:public\s++)?(?:async\s++)?(\w++)\s*+\(\s*+(\w++)([^)]{0,2000}+)\)"
    r"[^{;\n]{0,200}+\{",
    re.MULTILINE,
)
_MADE = re.compile(r"^[ \t]+constructor\s*\(([^)]{0,2000})\)", re.MULTILINE)
_COMMON = re.compile(r"^(?:module\.exports|exports\.\w+)\s*=\s*(.*(?:\n(?!\S).*)*)", re.MULTILINE)
_ENDPOINTS = {
    "anthropic": re.compile(r"/v1/messages\b"),
    "openai-chat": re.compile(r"/chat/completions\b"),
    "openai-responses": re.compile(r"/v1/responses\b"),
    "gemini": re.compile(r":(?:g|streamG)enerateContent\b"),
}
"""How a call of each wire is written that needs no SDK: by its path, for `fetch`."""

_CALLS = re.compile(r"\.(?:create|stream|parse|generateContent|run)\(|\b(?:generate|stream)Text\(")


def node_candidates(files: Mapping[str, str]) -> list[Candidate]:
    """The candidates of the Node files of a project."""
    return [found for path, text in files.items() if path.endswith(SUFFIXES)
            for found in _found(path, text, files)]  # fmt: skip


def _found(path: str, text: str, files: Mapping[str, str]) -> Iterator[Candidate]:
    if "HARNESS_INBOX_URL" in text:
        yield Candidate(path=path, line=1, kind="brief", wire="")
        return
    near = [text, *(files[name] for name in _beside(path, text, files))]
    rows = [row for each in near for row in imported(_IMPORT.findall(each), "node")]
    fetched = [wire for each in near for wire, path in _ENDPOINTS.items() if path.search(each)]
    if not rows and not fetched:
        return
    wire = next((row.wire for row in rows if row.wire), next(iter(fetched), ""))
    yield from node_endpoints(path, text, wire, files)
    library = next((row.package for row in rows if row.package.startswith("@ai-sdk/")), "")
    for name, first, others, at in (*_exports(text), *_methods(text)):
        if _is_text(first, others):
            yield Candidate(
                path=path, line=text.count("\n", 0, at) + 1, kind="module", name=name, wire=wire,
                library=library, asks=bool(_CALLS.search(text, at) or _fetches(text, at)),
            )  # fmt: skip


def _beside(path: str, text: str, files: Mapping[str, str]) -> list[str]:
    """The files of the project that a file imports: a client is often made in another file."""
    folder = PurePosixPath(path).parent
    named = [_plain(folder / name) for name in _IMPORT.findall(text) if name.startswith(".")]
    stems = {PurePosixPath(name).with_suffix("").as_posix() for name in named} | {*named}
    return [name for name in files if name.endswith(SUFFIXES)
            and PurePosixPath(name).with_suffix("").as_posix() in stems]  # fmt: skip


def _plain(path: PurePosixPath) -> str:
    """A path without steps up or `.`: one that leaves the project names no file of it."""
    parts: list[str] = []
    for part in path.parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return PurePosixPath(*parts).as_posix()


def _methods(text: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield the methods of exported classes that need no argument, as `Class.method`."""
    told = " ".join(_COMMON.findall(text))
    for found in _CLASS.finditer(text):
        exported, default, name = found.groups()
        after = _CLASS.search(text, found.end())
        body = text[found.end() : after.start() if after else len(text)].partition("\n}")[0]
        made = _MADE.search(body)
        if not (exported or re.search(rf"\b{name}\b", told)) or (made and _needs(made[1])):
            continue
        for method in _METHOD.finditer(body):
            if method[1] != "constructor" and not method[1].startswith("_"):
                owner = "default" if default else name
                yield f"{owner}.{method[1]}", method[2], method[3], found.end() + method.start()


def _needs(parameters: str) -> bool:
    """Whether a parameter has no default; that of a pattern stands after its last brace."""
    rest = re.sub(r"\{[^{}]*\}", "", parameters)
    return any("=" not in one and "?" not in one for one in rest.split(",") if one.strip(" :"))


def _fetches(text: str, at: int) -> bool:
    return any(path.search(text, at) for path in _ENDPOINTS.values())


def _exports(text: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield name, first parameter, what stands after it, and the place of each export."""
    for found in _EXPORTED.finditer(text):
        name, first, others, constant, parameter, more = found.groups()
        yield (
            constant or name or "default",
            parameter or first,
            more or others or "",
            found.start(),
        )
    told = " ".join(_COMMON.findall(text))
    for found in _FUNCTION.finditer(text):
        if re.search(rf"\b{found[1]}\b", told):
            yield found[1], found[2], found[3], found.start()


def _is_text(first: str, others: str) -> bool:
    """Whether a function takes what the user says, and needs nothing else."""
    needs_more = [p for p in others.split(",")[1:] if p.strip() and "=" not in p and "?" not in p]
    is_typed = others.lstrip().startswith(":")
    is_string = re.match(r"\s*:\s*string\b", others) is not None
    return not needs_more and (is_string or (not is_typed and first.lower() in TEXTS))


def started(
    path: str, files: Mapping[str, str], is_there: Callable[[str], bool]
) -> tuple[str, str]:
    """The words with which Node starts a program that imports a file, and the file to import.

    Raises InputError for TypeScript that nothing here can load.
    """
    if not path.endswith((".ts", ".mts")):
        return "node", path
    texts = [package_json(text) for name, text in files.items() if name.endswith("package.json")]
    if any("tsx" in (found.get(key) or {}) for found in texts
           for key in ("dependencies", "devDependencies")):  # fmt: skip
        return "node --import tsx", path
    for built in _built(path, files):
        if is_there(built):
            return "node", built
    what = f"{path} is TypeScript: install tsx (npm install --save-dev tsx), or build it first"
    raise InputError(what, "--target")


def _built(path: str, files: Mapping[str, str]) -> Iterator[str]:
    """Yield where the compiler may put a source: below `outDir`, without `rootDir`."""
    options = next((text for name, text in files.items() if name.endswith("tsconfig.json")), "")
    named = {key: re.search(rf'"{key}"\s*:\s*"([^"]+)"', options) for key in ("outDir", "rootDir")}
    out = named["outDir"][1] if named["outDir"] else "dist"
    root = named["rootDir"][1] if named["rootDir"] else "src"
    source = PurePosixPath(path).with_suffix(".mjs" if path.endswith(".mts") else ".js")
    for base in (_plain(PurePosixPath(root)), "."):
        if source.is_relative_to(base):
            yield _plain(PurePosixPath(out) / source.relative_to(base))
