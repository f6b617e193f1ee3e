"""Token counts: the core's names and the wire's.

A scenario says `input_tokens` and `output_tokens` on every wire; here they are `prompt_tokens` and
`completion_tokens`, and their sum is told too. Read back, both names are there.
"""

from __future__ import annotations

from harness.core.values.messages import Json

_NAMES = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}


def usage_to(prompt: int, completion: int, said: dict[str, Json]) -> dict[str, Json]:
    """The usage of an answer; what a script said of it wins over what was counted."""
    usage: dict[str, Json] = {"prompt_tokens": prompt, "completion_tokens": completion}
    usage |= {_NAMES.get(name, name): count for name, count in said.items()}
    counts = (usage["prompt_tokens"], usage["completion_tokens"])
    total = sum(count for count in counts if isinstance(count, int))
    return {"total_tokens": total, "prompt_tokens_details": {"cached_tokens": 0}, **usage}


def usage_from(value: Json) -> dict[str, Json]:
    """The usage of an answer, empty when it is no object."""
    if not isinstance(value, dict):
        return {}
    return value | {ours: value[theirs] for ours, theirs in _NAMES.items() if theirs in value}
