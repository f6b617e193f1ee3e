"""Parameters that not every model takes: effort, sampling, the schema of a structured output.

`efforts.tsv` has the levels of effort: the first row whose models fit counts. A model of unknown
name takes every level.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json
from harness.providers.anthropic.models import fits
from harness.providers.anthropic.rules import violation
from harness.providers.shared import json_fields as f
from harness.providers.shared.rules import table_rows
from harness.providers.shared.unoffered import says_missing

_EFFORTS = tuple(
    (row["models"], row["levels"].split()) for row in table_rows(__package__, "efforts.tsv")
)
_DISORDERED = re.compile(r"claude-[4-9]\d*(-\d+)?-[a-z]")
"""From 4 on the version comes behind the line: claude-haiku-4-5, and never claude-4-5-haiku."""

_SAMPLING = {"temperature": 1, "top_p": 1, "top_k": None}
"""Parameters of sampling, with the value that asks for nothing."""


def is_offered(model: str) -> bool:
    """Whether a name may be that of a model; False where no model can have it."""
    return not says_missing(model) and _DISORDERED.match(model) is None


def parameter_violations(said: Mapping[str, Json], model: str) -> Iterator[Violation]:
    """What these fields of a request break with the model of that name."""
    config = f.mapping(said.get("output_config"))
    if (level := config.get("effort")) is not None:
        yield from _effort(level, model)
    yield from _sampling(said)
    formats = (
        ("output_config.format", config.get("format")),
        ("output_format", said.get("output_format")),
    )
    for path, form in formats:
        if not all(map(_is_closed, _objects(f.mapping(form).get("schema")))):
            yield violation("V39", path=f"{path}.schema")
    for n, tool in enumerate(f.objects(said.get("tools"))):
        if tool.get("strict") is True and not all(
            map(_is_closed, _objects(tool.get("input_schema")))
        ):
            yield violation("V39", path=f"tools.{n}.custom")


def _effort(level: Json, model: str) -> Iterator[Violation]:
    levels = next((levels for models, levels in _EFFORTS if fits(models, model)), None)
    if levels == []:
        yield violation("V37a")
    elif levels and level not in levels:
        yield violation("V37", level=level, levels=", ".join(levels))


def _sampling(said: Mapping[str, Json]) -> Iterator[Violation]:
    given = [name for name, usual in _SAMPLING.items() if said.get(name) not in (None, usual)]
    yield from (violation("V38", name=name) for name in given)
    if said.get("temperature") is not None and said.get("top_p") is not None:
        yield violation("V38a")
    kind = f.mapping(said.get("thinking")).get("type")
    if "temperature" in given and kind in ("enabled", "adaptive"):
        yield violation("V38b")


_BELOW = ("properties", "$defs", "definitions")
_EITHER = ("anyOf", "allOf")


def _objects(schema: Json) -> Iterator[dict[str, Json]]:
    """The schemas of objects in a schema, itself too."""
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        yield schema
    inner = [part for name in _BELOW for part in f.mapping(schema.get(name)).values()]
    inner += [part for name in _EITHER for part in f.listed(schema.get(name))]
    for part in (*inner, schema.get("items")):
        yield from _objects(part)


def _is_closed(schema: dict[str, Json]) -> bool:
    return schema.get("additionalProperties") is False
