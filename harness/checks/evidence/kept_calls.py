"""How the next request holds a call of an answer: as the model gave it, as another one, or changed.

The model reads its own call there, and learns from it what it asked for. A long input may be
shortened with a note, and a secret taken out. What an agent has converted as the schema says is the
same input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from unicodedata import normalize

from harness.checks.evidence.cut_results import PREVIEWED, is_announced
from harness.checks.evidence.tool_inputs import is_as_given, plain, readings
from harness.core.values.messages import Json, ToolUse, canonical
from harness.core.values.visible_text import SHOWN, abridged


def is_another(held: ToolUse, use: ToolUse, others: Iterable[ToolUse]) -> bool:
    """Whether a call stands there with the tool and the input of another one of its answer."""
    forms = {(held.name, form) for form in readings(held.input)}
    return named(use) not in forms and any(named(other) in forms for other in others)


def named(use: ToolUse) -> tuple[str, str]:
    """The name of a call and its input, to compare calls by."""
    return use.name, canonical(plain(use.input))


def has_another_name(held: ToolUse, use: ToolUse) -> bool:
    """Whether a call stands there as one of another tool. Agents repair the form of a name, and add
    the prefix of a server or leave it out."""
    one, other = map(bare_name, (held.name, use.name))
    return not (one.endswith(other) or other.endswith(one))


def bare_name(name: str) -> str:
    """The letters and digits of a tool's name, in one case."""
    return "".join(filter(str.isalnum, name)).casefold()


def same_values(held: Json, said: Json) -> bool:
    """Whether an input has the numbers and truths of another one, wherever both have one."""
    if isinstance(said, dict) and isinstance(held, dict):
        return all(same_values(held[name], said[name]) for name in said.keys() & held.keys())
    if isinstance(said, list) and isinstance(held, list):
        return len(held) != len(said) or all(map(same_values, held, said))
    if any(isinstance(value, str | dict | list) for value in (held, said)):
        return True
    return canonical(held) == canonical(said) or held == said


def alteration(held: dict[str, Json], said: Json, schema: Mapping[str, Any]) -> str:
    """How an input differs from what the model gave, in words; "" where nothing of it is lost."""
    if not isinstance(said, dict) or is_as_given(said, held, schema):
        return ""
    if not held:
        return "with an empty input" if any(map(_is_kept, said, said.values())) else ""
    if gone := [n for n, value in said.items() if n not in held and _is_kept(n, value)]:
        return f"without its {' and '.join(map(canonical, gone))}"
    other = next((n for n in said if n in held and _differs(n, said[n], held[n])), None)
    if other is None:
        return ""
    shown = (abridged(canonical(values[other]), SHOWN) for values in (held, said))
    return f"with {canonical(other)} as {{}} where the model gave {{}}".format(*shown)


_SECRET = re.compile(r"pass|secret|token|key|auth|credential|pin\b", re.IGNORECASE)
_TAKEN_OUT = re.compile(r"clear|redact|mask|hidden|remov|secret|\*\*|•|x{4}", re.IGNORECASE)


def _is_kept(name: str, value: Json) -> bool:
    """Whether a request has to hold a value: one that says something, no secret, and not long."""
    says_nothing = value is None or value is False or value in ("", [], {})
    return not (says_nothing or _SECRET.search(name) or len(canonical(value)) >= PREVIEWED)


def _differs(name: str, said: Json, held: Json) -> bool:
    """Whether a value stands there as another one. A long one may be shortened anywhere in it."""
    if _SECRET.search(name) or len(canonical(said)) >= PREVIEWED:
        return False
    if isinstance(said, dict) and isinstance(held, dict):
        return any(
            _differs(n, value, held[n]) if n in held else _is_kept(n, value)
            for n, value in said.items()
        )
    if isinstance(said, list) and isinstance(held, list):
        pairs = zip(said, held, strict=False)
        return len(said) != len(held) or any(_differs(name, *pair) for pair in pairs)
    if not isinstance(said, str) and not isinstance(held, str):
        return canonical(said) != canonical(held) and said != held
    one, other = (_text(value) for value in (said, held))
    if one in other or is_announced(one, other):
        return False
    return not _TAKEN_OUT.search(other) or bool(_TAKEN_OUT.search(one))


def _text(value: Json) -> str:
    """A value as text, without signs that agents clean away, and white space as one blank."""
    text = normalize("NFC", value if isinstance(value, str) else canonical(value))
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
