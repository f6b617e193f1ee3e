"""YAML of strangers: every tag is ignored, nothing is built but plain values.

Cassettes carry tags of the program that wrote them (`!!python/object/apply:...istr`, Ruby's
`!binary`). A tag is a wish to have code run, so none is granted: what stands below it is read as
the text, list or mapping that it is; only the two spellings of binary mean their bytes. Times
stay text, merge keys are ordinary keys, and keys are always text, so that a cassette means what
its JSON form would mean.
"""

from __future__ import annotations

import base64
import re
from typing import Any, ClassVar

import yaml

from harness.core.errors import InputError
from harness.core.messages import Json

_DEPTH = 200
"""How deeply a cassette may nest; the parser in C would end the process far beyond it."""

_SCALARS = ("null", "bool", "int", "float")


def parse(data: bytes) -> Json:
    """The plain value of a YAML document; raises InputError, with the line, when it is none."""
    if _too_deep(data):
        raise InputError(f"the YAML nests more than {_DEPTH} levels deep")
    loader = _Loader(data)
    try:
        return loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}" if mark else ""
        raise InputError(f"no YAML: {error.problem or error.context}", place) from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise InputError(f"no YAML: {_first_line(error)}") from None
    finally:
        loader.dispose()


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


_FLOW_OPENINGS = re.compile(rb"[\[{][\[{\s]{%d,}" % _DEPTH)
_BLOCK_OPENINGS = re.compile(rb"(?:[-?:] ){%d,}" % _DEPTH)


def _too_deep(data: bytes) -> bool:
    return bool(_FLOW_OPENINGS.search(data) or _BLOCK_OPENINGS.search(data))


class _Loader(yaml.CSafeLoader):
    """The safe loader in C, with the constructors below and no others."""

    yaml_constructors: ClassVar[dict[Any, Any]] = {}
    yaml_multi_constructors: ClassVar[dict[Any, Any]] = {}


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Json]:
    build = loader.construct_object
    return {_key(build(key, deep=True)): build(value, deep=True) for key, value in node.value}


def _key(key: Json) -> str:
    """A key as text; a tagged key is the list of its constructor's arguments."""
    if isinstance(key, list) and len(key) == 1:
        key = key[0]
    return key if isinstance(key, str) else str(key)


def _sequence(loader: _Loader, node: yaml.SequenceNode) -> list[Json]:
    return [loader.construct_object(child, deep=True) for child in node.value]


def _text(loader: _Loader, node: yaml.ScalarNode) -> str:
    return str(node.value)


def _binary(loader: _Loader, node: yaml.ScalarNode) -> bytes:
    try:
        return base64.b64decode(str(node.value))
    except ValueError as error:
        raise yaml.constructor.ConstructorError(
            None, None, f"binary that is no base64 ({error})", node.start_mark
        ) from None


def _any(loader: _Loader, tag: str, node: yaml.Node) -> Json:
    if isinstance(node, yaml.MappingNode):
        return _mapping(loader, node)
    if isinstance(node, yaml.SequenceNode):
        return _sequence(loader, node)
    if isinstance(node, yaml.ScalarNode) and tag in ("!binary", "tag:yaml.org,2002:binary"):
        return _binary(loader, node)
    return _text(loader, node)  # type: ignore[arg-type]


_PREFIX = "tag:yaml.org,2002:"
_Loader.add_constructor(f"{_PREFIX}map", _mapping)
_Loader.add_constructor(f"{_PREFIX}seq", _sequence)
_Loader.add_constructor(f"{_PREFIX}str", _text)
for _name in _SCALARS:
    _Loader.add_constructor(
        f"{_PREFIX}{_name}", yaml.CSafeLoader.yaml_constructors[f"{_PREFIX}{_name}"]
    )
_Loader.add_multi_constructor("", _any)
