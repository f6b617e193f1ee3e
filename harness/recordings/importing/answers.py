"""Tools of a story: what each of them answered, call by call, as scripted tools.

Equal answers in a row are one, with `times`. A call whose result is not in the recording gets a
placeholder, so that the calls behind it keep their answers. A tool that the recording does not
declare gets a schema from its calls: the names that they give, and as `required` those that every
successful call gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from harness.core.values.messages import Json, Opaque, Text, ToolResult, ToolSpec, ToolUse
from harness.recordings.importing import fidelity
from harness.recordings.importing.fidelity import Account
from harness.recordings.importing.story import Said, Step

PLACEHOLDER = "(the recording does not hold this result)"

_Call = tuple[ToolUse, ToolResult | None]


def tools(
    steps: Sequence[Step], declared: Sequence[ToolSpec], account: Account
) -> dict[str, dict[str, Json]]:
    """The tools that are called, in the order of their first calls, then the others declared."""
    calls: dict[str, list[_Call]] = {}
    for step in steps:
        for use, result in step.calls if isinstance(step, Said) else ():
            calls.setdefault(use.name, []).append((use, result))
    known = {spec.name: spec for spec in declared}
    made = {name: _tool(known.get(name), own, account) for name, own in calls.items()}
    return made | {name: _offer(spec) for name, spec in known.items() if name not in made}


def _tool(spec: ToolSpec | None, calls: list[_Call], account: Account) -> dict[str, Json]:
    account.results += len(calls)
    account.missing += sum(result is None for _, result in calls)
    if spec is None:
        account.note(fidelity.INFERRED_SCHEMAS)
    offer = {"input_schema": inferred_schema(calls)} if spec is None else _offer(spec)
    return {**offer, "script": _folded(_turn(result, account) for _, result in calls)}


def _offer(spec: ToolSpec) -> dict[str, Json]:
    offer: dict[str, Json] = {}
    if spec.description:
        offer["description"] = spec.description
    if spec.input_schema:
        offer["input_schema"] = spec.input_schema
    return offer


def _turn(result: ToolResult | None, account: Account) -> dict[str, Json]:
    if result is None:
        return {"ok": PLACEHOLDER}
    if result.is_error:
        return {"error": result.text}
    return {"ok": _content(result, account)}


def _content(result: ToolResult, account: Account) -> Json:
    """A result's text; several blocks stay several, and an image becomes its name."""
    if isinstance(result.content, str):
        return result.content
    account.note(fidelity.IMAGES, sum(isinstance(b, Opaque) for b in result.content))
    texts = [b.text if isinstance(b, Text) else f"[{b.kind}]" for b in result.content]
    if len(texts) <= 1:
        return "".join(texts)
    return [{"type": "text", "text": text} for text in texts]


def _folded(turns: Iterable[dict[str, Json]]) -> list[dict[str, Json]]:
    return [_times(turn, sum(1 for _ in group)) for turn, group in groupby(turns)]


def _times(turn: dict[str, Json], n: int) -> dict[str, Json]:
    return turn if n == 1 else {**turn, "times": n}


def inferred_schema(calls: Sequence[_Call]) -> dict[str, Json]:
    """A schema that every successful call fits; what such calls all give is required."""
    names = dict.fromkeys(name for use, _ in calls for name in _names(use))
    good = [set(_names(use)) for use, result in calls if result and not result.is_error]
    required = [name for name in names if good and all(name in given for given in good)]
    schema: dict[str, Json] = {"type": "object", "properties": {name: {} for name in names}}
    return {**schema, "required": required} if required else schema


def _names(use: ToolUse) -> Iterator[str]:
    yield from use.input if isinstance(use.input, dict) else ()
