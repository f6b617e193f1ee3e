"""A candidate: a part of a project that may be its agent, and how much speaks for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

import msgspec

Kind: TypeAlias = Literal["brief", "object", "chat", "method", "command", "module", "endpoint"]

KINDS: dict[Kind, str] = {
    "brief": "a function of its brief",
    "object": "an agent object",
    "chat": "a function from text to text",
    "method": "a method from text to text",
    "command": "a program that is asked on the command line",
    "module": "a function of Node from text to text",
    "endpoint": "a chat endpoint",
}
"""What a candidate is, in words."""

_WEIGHTS: dict[Kind, int] = {
    "brief": 100, "object": 70, "chat": 60, "module": 60, "method": 50, "endpoint": 40,
    "command": 20,
}  # fmt: skip
_NAMES = ("agent", "answer", "ask", "chat", "reply", "respond", "run_agent", "handle", "run")
_STEMS = ("agent", "app", "main", "bot", "assistant", "chat", "index", "server")
_ASIDE = ("example", "examples", "demo", "demos", "scripts", "docs", "notebooks", "benchmarks")

TEXTS = frozenset(
    {"content", "input", "message", "msg", "prompt", "q", "query", "question", "request", "task"}
    | {"text", "user_input", "user_message", "userinput", "usermessage", "utterance"}
)
"""Names of a parameter that holds what the user says."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a project that may be its agent.

    `path` is below the project's folder and `module` the import path; `name` is the function, the
    object, `Class.method` or, of a command, "". `library` is the package of the library that the
    object is made with. `asks`: its own text calls the model. `wire` is the API that it speaks.
    `start` is the target of an endpoint.
    """

    path: str
    line: int
    kind: Kind
    name: str = ""
    module: str = ""
    library: str = ""
    wire: str = ""
    start: str = ""
    is_async: bool = False
    is_factory: bool = False
    is_typed: bool = False
    asks: bool = False

    @property
    def spec(self) -> str:
        """How a user names it: `MODULE:NAME`, or the file of a program or of Node."""
        return f"{self.module or self.path}:{self.name}" if self.name else self.path

    @property
    def weight(self) -> int:
        """How much speaks for it."""
        folders, name = PurePosixPath(self.path).parts[:-1], self.name.rpartition(".")[2].lower()
        return (
            _WEIGHTS[self.kind]
            + 6 * self.asks
            + 4 * self.is_typed
            + 5 * (name in _NAMES)
            + 3 * (PurePosixPath(self.path).stem.lower() in _STEMS)
            - 30 * any(folder in _ASIDE for folder in folders)
        )


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, what speaks most for first."""
    return sorted(candidates, key=lambda one: (-one.weight, one.path, one.line))


def best(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate that is before all others; None where there is none, and where several are."""
    order = ranked(candidates)
    is_tied = len(order) > 1 and order[0].weight == order[1].weight
    return None if is_tied or not order else order[0]
