"""Agents in JavaScript and TypeScript sources, found by their exports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from harness.starter.candidate import TEXTS, Candidate
from harness.starter.libraries import imported

SUFFIXES = (".mjs", ".js", ".cjs", ".ts", ".mts")
"""How the name of a source of Node ends."""

_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["']([^"']+)["']""")
_EXPORTED = re.compile(
    r"^export\s+(?:default\s+)?(?:async\s+)?function\s*+(\w*)\s*+\(\s*+(\w+)([^)]{0,2000})\)|"
    r"^export\s+const\s+(\w+)\s*=\s*+(?:async\s*+)?(?:\(\s*+)?(\w++)([^)=]{0,2000}+)\)?[^=\n]{0,500}+=>",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"^(?:async\s+)?function\s+(\w+)\s*\(\s*(\w+)([^)]{0,2000})\)", re.MULTILINE)
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
    return [found for path, text in files.items() for found in _found(path, text)]


def _found(path: str, text: str) -> Iterator[Candidate]:
    if "HARNESS_INBOX_URL" in text:
        yield Candidate(path=path, line=1, kind="brief", wire="")
        return
    rows = imported(_IMPORT.findall(text), "node")
    fetched = next((wire for wire, path in _ENDPOINTS.items() if path.search(text)), "")
    if not rows and not fetched:
        return
    wire = next((row.wire for row in rows if row.wire), fetched)
    for name, first, others, at in _exports(text):
        if _is_text(first, others):
            yield Candidate(
                path=path, line=text.count("\n", 0, at) + 1, kind="module", name=name, wire=wire,
                asks=bool(_CALLS.search(text, at) or _fetches(text, at)),
            )  # fmt: skip


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
