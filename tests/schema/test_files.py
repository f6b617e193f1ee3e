"""The catalogue fits its schema; what the schema refuses the loader refuses, and the other way."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from harness.core.values.errors import InputError
from harness.files import load_scenarios
from harness.files.scenario_file import has_script
from harness.files.yaml_text import parse
from harness.schema import schema_of
from tests.documents import ROOT, blocks

KNOWN = (
    "there is no tool",
    "there is no session",
    r"no tool '",
    "no dialect of",
    "the wire '.*' has no such thing",
    "`input` belongs to a `use`",
    "a turn needs",
    "only one of `ok`",
    "`when` takes either",
    "no regular expression",
    "it strikes on tools, and the scenario has none",
    "setting 'rule': no rule",
)
"""What a schema cannot say: names that stand elsewhere in the file, and null where a key counts."""

_WRONG: tuple[Any, ...] = ("zzz", -7, None, [{}], {"zzz": 1})


@cache
def _validator(file: str = "scenario") -> Any:
    return jsonschema_rs.validator_for(schema_of(file))


@cache
def _catalogue() -> dict[Path, Any]:
    found = [path for path in sorted((ROOT / "scenarios").rglob("*.yaml")) if has_script(path)]
    return {path: parse(path.read_text("utf-8"))[0] for path in found}


def test_every_scenario_of_the_catalogue_fits() -> None:
    assert len(_catalogue()) > 200
    for path, root in _catalogue().items():
        mistakes = [f"{error.instance_path}: {error.message}" for error in
                    _validator().iter_errors(root)]  # fmt: skip
        assert mistakes == [], path


def test_every_example_of_the_documentation_fits() -> None:
    for text in blocks(ROOT / "docs" / "scenario.md", "yaml"):
        assert _validator().is_valid(parse(text)[0]), text


def test_every_overlay_of_ours_fits() -> None:
    found = [path for folder in ("tests", "examples", "scenarios")
             for path in (ROOT / folder).rglob("*overlay*.yaml")]  # fmt: skip
    for path in found:
        assert _validator("overlay").is_valid(parse(path.read_text("utf-8"))[0]), path


@pytest.mark.parametrize("seed", range(3))
def test_a_mistake_is_one_for_both(seed: int, tmp_path: Path) -> None:
    _compare(seed, 25, tmp_path)


@pytest.mark.real
@pytest.mark.nightly
def test_many_mistakes_are_mistakes_for_both(tmp_path: Path) -> None:
    _compare(99, 2000, tmp_path)


def _compare(seed: int, count: int, folder: Path) -> None:
    draws = random.Random(seed)
    files = list(_catalogue().items())
    for _ in range(count):
        path, root = draws.choice(files)
        place = draws.choice(list(_places(root)))
        _compare_one(_with(root, place, draws.choice(_WRONG)), folder / path.name)


def _compare_one(root: Any, file: Path) -> None:
    file.write_text(json.dumps(root, ensure_ascii=False), "utf-8")
    fits, refusal = _validator().is_valid(root), _refusal(file)
    if refusal is None:
        assert fits, f"only the schema refuses it: {file.read_text('utf-8')}"
    elif fits:
        known = any(re.search(words, refusal) for words in KNOWN)
        assert known, f"only the loader refuses it: {refusal}"


def _refusal(file: Path) -> str | None:
    try:
        list(load_scenarios(file))
    except InputError as error:
        return error.what
    return None


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else ()
    for key, child in items or (enumerate(value) if isinstance(value, list) else ()):
        yield from _places(child, (*path, key))


def _with(root: Any, path: tuple[Any, ...], wrong: Any) -> Any:
    changed = copy.deepcopy(root)
    inner = changed
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = wrong
    return changed


@pytest.mark.parametrize(
    ("file", "value", "fits"),
    [
        ("profile", {"wires": ["gemini"], "fail-on": "defect", "limits": {"real_s": 3}}, True),
        ("profile", {"wires": ["gemni"]}, False),
        ("profile", {"fail_on": "defect"}, False),
        ("profile", {"checks": {"backoff": {"cap_s": "long"}}}, False),
        ("configuration", {"plugins": ["mine"], "profiles": {"a": {"keep": True}}}, True),
        ("configuration", {"profiles": {"a": {"kep": True}}}, False),
        ("configuration", {"seed": -1}, False),
        ("overlay", {"faults": [{"kind": "http.status", "status": 500}]}, True),
        ("overlay", {"faults": [{"kind": "http.status", "stauts": 500}]}, False),
        ("overlay", {"faults": [{"kind": "tools.fails", "on": "model"}]}, False),
        ("overlay", {"faults": [{"kind": "tools.fails", "on": "tool:save"}]}, True),
        ("overlay", {}, False),
    ],
)
def test_the_other_files_are_checked(file: str, value: Any, fits: bool) -> None:
    assert _validator(file).is_valid(value) is fits
