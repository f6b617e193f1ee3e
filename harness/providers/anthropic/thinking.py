"""The rules of thinking blocks, V15 to V18, and the blocks that are dropped in place of a refusal.

The API compares with what it answered; here the signature tells (`bindings`), so the rules hold
from the request alone. A changed block is V15 in the latest assistant turn and V16 before it. A
block whose conversation has changed is V17 for the models that bind thinking, unless the request
asks to have it dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, Message, Thinking
from harness.providers.anthropic.bindings import Bindings, Flaw
from harness.providers.anthropic.models import model
from harness.providers.anthropic.rules import violation

STRICT_ONLY = "V18"
"""A rule that only `strict` has."""


def judged(
    bindings: Bindings, settings: dict[str, Json], model_name: str, active: frozenset[str]
) -> tuple[Violation, ...]:
    """What the thinking of the request breaks."""
    flaws = bindings.flaws
    strict, latest = STRICT_ONLY in active, -1
    if any(flaw.kind == "changed" for flaw in flaws):
        latest = bindings.latest_turn()
    refuses = binds(model_name, strict=strict) and not drops(settings)
    named = ((_rule(flaw, latest, refuses=refuses), flaw.n, flaw.m) for flaw in flaws)
    return tuple(violation(rule, n=n, m=m) for rule, n, m in named if rule in active)


def _rule(flaw: Flaw, latest: int, *, refuses: bool) -> str:
    match flaw.kind:
        case "changed":
            return "V15" if flaw.turn == latest else "V16"
        case "forged":
            return "V16"
        case "moved":
            return "V17" if refuses else ""


def binds(model_name: str, *, strict: bool) -> bool:
    """Whether the model refuses a moved block; of one we do not know, only `strict` says so."""
    it = model(model_name)
    return it.binds_thinking if it.known else strict


def drops(settings: dict[str, Json]) -> bool:
    """Whether the request asks to have moved blocks dropped."""
    match settings.get("thinking"):
        case {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}:
            return True
    return False


def dropped(bindings: Bindings, settings: dict[str, Json], model_name: str) -> list[Json]:
    """The blocks that are dropped, as the answer reports them."""
    if not drops(settings) or not binds(model_name, strict=False):
        return []
    return [
        {
            "type": "thinking_dropped",
            "path": f"messages.{flaw.n}.content.{flaw.m}",
            "reason": "prefix_binding_mismatch",
        }
        for flaw in bindings.flaws
        if flaw.kind == "moved"
    ]


def unthinking(messages: Sequence[Message], settings: dict[str, Json]) -> Iterator[Violation]:
    """A tool loop whose assistant turn does not begin with thinking, though that is on (V18)."""
    match settings.get("thinking"):
        case {"type": "enabled"} if messages and messages[-1].tool_results:
            n = len(messages) - 1
            while n and messages[n].role != "assistant":
                n -= 1
            while n and messages[n - 1].role == "assistant":
                n -= 1
            first = messages[n].blocks[0] if messages[n].blocks else None
            if first is not None and not isinstance(first, Thinking):
                yield violation("V18", n=n, kind=_KINDS.get(type(first).__name__, "text"))


_KINDS = {"Text": "text", "ToolUse": "tool_use"}
