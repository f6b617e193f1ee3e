"""What the fields beside the messages break: names of tools, thinking and its budget, the cap.

Every rule is judged here; which of them count is up to the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json
from harness.providers.anthropic.models import Model, model
from harness.providers.anthropic.rules import violation

_LETTERS = re.compile(r"[a-zA-Z0-9_-]+")
NAME_MAX, NAME_MAX_OLD = 128, 64
BUDGET_MIN = 1024


def tool_names(tools: Json) -> Iterator[Violation]:
    """Names of tools that are malformed, too long (V21) or double (V22).

    The provider's own tools have fixed names, or none; they count only against doubles.
    """
    names: list[str] = []
    for n, tool in enumerate(tools):
        name = tool.get("name")
        if name is not None:
            names.append(name)
        if tool.get("type") not in (None, "custom"):
            continue
        if name is None:
            yield violation("V32", path=f"tools.{n}.custom.name")
            continue
        sound = _LETTERS.fullmatch(name)
        if not sound:
            yield violation("V21", n=n)
        elif len(name) > NAME_MAX:
            yield violation("V21a", n=n)
        if not sound or len(name) > NAME_MAX_OLD:
            yield violation("V21b", n=n)
    if len(set(names)) < len(names):
        yield violation("V22")


def together(
    model_name: str, max_tokens: int | None, thinking: Json, tool_choice: Json
) -> Iterator[Violation]:
    """What does not go together: the model, thinking, forced tools, the cap of the reply."""
    if thinking is None and tool_choice is None and max_tokens is None:
        return
    it = model(model_name)
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if isinstance(kind, str):
        yield from _thinking(it, kind, thinking.get("budget_tokens"), max_tokens)
    if isinstance(tool_choice, dict) and tool_choice.get("type") in ("any", "tool"):
        if it.always_thinks:
            yield violation("V20")
        elif kind in ("enabled", "adaptive"):
            yield violation("V20a")
    if it.known and max_tokens is not None and max_tokens > it.max_tokens:
        yield violation("V25", tokens=max_tokens, most=it.max_tokens, model=it.id)


_UNSUPPORTED = {"enabled": "V19", "adaptive": "V19a", "disabled": "V19b"}


def _thinking(it: Model, kind: str, budget: Json, max_tokens: int | None) -> Iterator[Violation]:
    if kind in _UNSUPPORTED and not it.thinks(kind):
        yield violation(_UNSUPPORTED[kind])
    elif kind == "enabled" and isinstance(budget, int):
        if budget < BUDGET_MIN:
            yield violation("V19c")
        elif max_tokens is not None and budget >= max_tokens:
            yield violation("V19d")
