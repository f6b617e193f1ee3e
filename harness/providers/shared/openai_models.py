"""What both APIs of OpenAI take from which model: families of names, and parameters.

`openai_models.tsv` has the families, `openai_parameters.tsv` the parameters that some models refuse
whole, or except for the values that they take. A name that is in no family is taken at its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.providers.shared.rules import table_rows

_FAMILIES = {row["family"]: row["names"] for row in table_rows(__package__, "openai_models.tsv")}


@cache
def fits(models: str, name: str) -> bool:
    """Whether a model is one of `models`: families and patterns, `!` before what is not meant."""
    terms = models.split()
    if any(_is(term[1:], name) for term in terms if term.startswith("!")):
        return False
    wanted = [term for term in terms if not term.startswith("!")]
    return not wanted or any(_is(term, name) for term in wanted)


def _is(term: str, name: str) -> bool:
    if term in _FAMILIES:
        return fits(_FAMILIES[term], name)
    pattern = re.escape(term).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(pattern, name, re.DOTALL) is not None


class ParameterRow(NamedTuple):
    """A parameter that `models` refuse, except for the values in `takes`.

    `refused` says whether the answer names the parameter or its value, `hint` how it ends.
    """

    api: str
    models: str
    parameter: str
    takes: tuple[str, ...]
    refused: str
    hint: str


def _rows() -> Iterator[ParameterRow]:
    for row in table_rows(__package__, "openai_parameters.tsv"):
        hint = f" {row['hint']}" if row["hint"] else ""
        taken = tuple(row["takes"].split())
        yield ParameterRow(row["api"], row["models"], row["parameter"], taken, row["refused"], hint)


_ROWS = tuple(_rows())
PARAMETERS = frozenset(row.parameter.partition(".")[0] for row in _ROWS)
"""The fields that the table has rows for."""


def refused_parameters(
    api: str, model: str, said: Mapping[str, Json]
) -> Iterator[tuple[ParameterRow, str]]:
    """The rows that a request breaks, and the value that it asks for, in the words of the API."""
    for row in _ROWS:
        name, _, inner = row.parameter.partition(".")
        value = f.mapping(said.get(name)).get(inner) if inner else said.get(name)
        if row.api != api or value is None or not fits(row.models, model):
            continue
        if not any(value == taken for taken in map(_value, row.takes)):
            yield row, f"'{value}'" if isinstance(value, str) else f.json_text(value)


def _value(taken: str) -> Json:
    value = f.parse(taken)
    return taken if value is None else value


RANGES: Mapping[str, tuple[int, int]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}
"""The least and the most that these parameters may be."""


def out_of_range(said: Mapping[str, Json]) -> Iterator[tuple[str, int, Json]]:
    """The numbers beyond their range: the name, the bound and the number."""
    for name, (least, most) in RANGES.items():
        value = said.get(name)
        if isinstance(value, int | float) and not least <= value <= most:
            yield name, least if value < least else most, value
