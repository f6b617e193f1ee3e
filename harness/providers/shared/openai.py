"""What both APIs of OpenAI have in common: SDK, home, fields, errors, models, strict schemas.

`openai_models.tsv` has families of names of models, `openai_parameters.tsv` the parameters that
some models refuse whole, or except for the values that they take. A name that is in no family is
taken at its word.

A schema that the model is to follow strictly says its type. Each object lists all its properties
as required and permits no others. The first thing that is wrong is told, outer schemas first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared import json_fields as f
from harness.providers.shared.reader import Field
from harness.providers.shared.rules import Rule, table_rows
from harness.providers.shared.unoffered import is_out_of_reach, is_web_address

OTHER_MODEL = "gpt-4o-mini-2024-07-18"
ERROR_WORDS = (__package__, "openai_error_words.tsv")


class ParameterError(ApiError, frozen=True, gc=False, omit_defaults=True):
    """An error that names the parameter of the request that is wrong, "" for none."""

    param: str = ""


def statuses(api: Literal["chat", "responses"]) -> dict[str, int]:
    """The status that goes with the code or the type of an error, where nothing else tells it."""
    rows = table_rows(__package__, "openai_statuses.tsv")
    return {row["word"]: int(row["status"]) for row in rows if api in row["apis"].split()}


_TYPE_NAMES: dict[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    type(None): "null",
}


def type_name(value: Json) -> str:
    """The type of a value as the APIs' messages name it: `an object`, `a string`, `null`."""
    return _TYPE_NAMES.get(type(value), "an object")


def parameter_error(rule: Rule, text: str, param: str) -> ParameterError:
    """The answer of a rule that names the wrong parameter."""
    return ParameterError(rule.status, rule.type, text, code=rule.code, param=param)


URL_MOST_CHARS = 200
"""How much of an address the text of an error repeats."""


def picture_fault(url: Json) -> Literal["no address", "out of reach", ""]:
    """Why the APIs refuse a picture: its address must be one of the web, or hold the picture."""
    if not isinstance(url, str):
        return ""  # other rules ask for a text
    if not is_web_address(url) and not url.lower().startswith("data:"):
        return "no address"
    return "out of reach" if is_out_of_reach(url) else ""


Wanted = tuple[Callable[[Json], bool], str]
"""What a field must be: a test, and the words for it."""

TEXT: Wanted = (lambda value: isinstance(value, str), "a string")
COUNT: Wanted = (lambda v: isinstance(v, int) and not isinstance(v, bool), "an integer")
FLAG: Wanted = (lambda value: isinstance(value, bool), "a boolean")
LIST: Wanted = (lambda value: isinstance(value, list), "an array of objects")
OBJECTS: Wanted = (lambda v: LIST[0](v) and all(isinstance(item, dict) for item in v), LIST[1])


def field_reader(wanted: Mapping[str, Wanted]) -> Callable[[str, bytes], Field]:
    """Reads fields that must be what `wanted` says; one that is null counts as not given."""

    def read(name: str, raw: bytes) -> Field:
        value = msgspec.json.decode(raw)
        if value is None or name not in wanted or wanted[name][0](value):
            return Field(raw, value)
        return Field(raw, None, wanted=wanted[name][1])

    return read


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


def _refused_parameters(
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


def _out_of_range(said: Mapping[str, Json]) -> Iterator[tuple[str, int, Json]]:
    """The numbers beyond their range: the name, the bound and the number."""
    for name, (least, most) in RANGES.items():
        value = said.get(name)
        if isinstance(value, int | float) and not least <= value <= most:
            yield name, least if value < least else most, value


_REQUIRED = (
    "'required' is required to be supplied and to be an array including every key in properties."
)
_CLOSED = "'additionalProperties' is required to be supplied and to be false."
_BELOW = ("properties", "$defs", "definitions")
Place = tuple[str, ...]


def _schema_fault(schema: Json) -> str:
    """The first fault of a strict schema with its place, "" for a sound one."""
    return next((f"In context={place!r}, {fault}" for place, fault in _faults(schema, ())), "")


def _parameters_fault(function: dict[str, Json]) -> str:
    """What is wrong with the parameters of a function, "" for nothing.

    They are an object; a tool without parameters has none.
    """
    schema = function.get("parameters")
    if not isinstance(schema, dict) or not schema:
        return ""
    if schema.get("type") != "object":
        kind = schema.get("type")
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    return _schema_fault(schema) if function.get("strict") is True else ""


def _faults(schema: Json, place: Place) -> Iterator[tuple[Place, str]]:
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        yield from ((place, fault) for fault in _object_faults(schema))
    for name in _BELOW:
        for key, part in f.mapping(schema.get(name)).items():
            yield from _faults(part, (*place, name, key))
    yield from _faults(schema.get("items"), (*place, "items"))
    for n, part in enumerate(f.listed(schema.get("anyOf"))):
        yield from _faults(part, (*place, "anyOf", str(n)))


def _object_faults(schema: dict[str, Json]) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield _CLOSED
    named, required = f.mapping(schema.get("properties")), schema.get("required")
    missing = [name for name in named if name not in f.listed(required)]
    if missing:
        yield f"{_REQUIRED} Missing '{missing[0]}'."
    extra = [name for name in f.listed(required) if name not in named]
    if extra:
        yield f"{_REQUIRED} Extra required key '{extra[0]}' supplied."


ModelFault = Literal["parameter", "value", "low", "high", "function", "schema"]
"""A parameter that a model refuses, or its value; a number below or above its range; the
parameters of a function, or the schema of an answer, that are wrong."""


def model_faults(
    api: str,
    said: Mapping[str, Json],
    functions: Iterable[tuple[int, dict[str, Json]]],
    form: dict[str, Json],
) -> Iterator[tuple[ModelFault, dict[str, Json]]]:
    """What the model of a request does not take, with what the text of its rule names.

    `said` are the fields of the request, `functions` the tools with their places among them, and
    `form` what the answer is to be like.
    """
    for row, value in _refused_parameters(api, said.get("model") or "", said):
        kind: ModelFault = "parameter" if row.refused == "parameter" else "value"
        yield kind, {"param": row.parameter, "value": value, "hint": row.hint}
    for name, bound, got in _out_of_range(said):
        yield "low" if got < bound else "high", {"param": name, "bound": bound, "got": got}
    for n, function in functions:
        if fault := _parameters_fault(function):
            yield "function", {"n": n, "name": function.get("name"), "fault": fault}
    if form.get("strict") is True and (fault := _schema_fault(form.get("schema"))):
        yield "schema", {"name": form.get("name"), "fault": fault}
