"""The tree keeps the rules of the design; every violation is named with its file and line."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import distribution
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import architecture_rules as rules
from tests import architecture_tables as table
from tests import event_rules
from tests import shape_rules as shape
from tests.architecture_rooms import PAGE, page_rows, updated

pytestmark = pytest.mark.source

ROOT = Path(__file__).parents[1]
BASE_INSTALL_PACKAGES = 40

RULES: list[Callable[[Iterable[rules.Module]], Iterator[str]]] = [
    rules.pure_rooms,
    rules.floors,
    rules.sub_floors,
    rules.siblings,
    rules.names,
    rules.providers_in_core,
    rules.cycles,
    rules.packages,
    event_rules.events,
    shape.sizes,
    shape.docstrings,
    shape.shared_state,
    shape.loopback,
    shape.listeners,
    shape.environment,
]


@pytest.fixture(scope="module")
def tree() -> list[rules.Module]:
    """The modules of harness, with paths as a reader of the repository says them."""
    return rules.modules(ROOT / "harness")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_harness_keeps(
    rule: Callable[[Iterable[rules.Module]], Iterator[str]], tree: list[rules.Module]
) -> None:
    assert tree, "no modules found: the test looks in the wrong place"
    violations = [line.removeprefix(f"{ROOT}/") for line in rule(tree)]
    assert not violations, f"{rule.__doc__}\n" + "\n".join(violations)


@pytest.mark.parametrize("folder", ["bench", "examples", "tests"])
def test_what_stands_beside_harness_is_small_too(folder: str) -> None:
    violations = list(shape.sizes(rules.modules(ROOT / folder)))
    assert not violations, "\n".join(violations)


@pytest.mark.parametrize("name", table.LIGHT_FACES)
def test_faces_load_nothing_heavy(name: str) -> None:
    path = ROOT / name.replace(".", "/")
    if not (path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()):
        pytest.skip(f"{name} does not exist")
    violations = list(shape.heavy_imports(ROOT, name, table.LIGHT_FACES[name]))
    assert not violations, "\n".join(violations)


def test_the_page_of_the_architecture_is_printed_from_the_table() -> None:
    page = PAGE.read_text("utf-8")
    assert updated(page) == page, "python -m tests.architecture_rooms"
    assert page_rows() in page


def test_rows_of_the_tables_name_rooms() -> None:
    """A typo in a table would switch its rule off."""
    named = [*table.ONLY, *table.PURE, *table.EVENT_MAKERS, *table.ENVIRONMENT_READERS]
    named += [*table.PROCESS_STATE, *table.LISTENERS]
    named += [*table.SUB_FLOORS, *table.SIBLINGS, *table.NAMES_AGAIN]
    named += [room for rooms in table.ONLY.values() for room in rooms]
    named += [home for homes in table.PACKAGES.values() for home in homes]
    assert {name.partition(".")[0] for name in named} <= set(table.FLOORS)


def test_the_base_install_is_small() -> None:
    closure = _closure("loop-harness")
    assert len(closure) - 1 <= BASE_INSTALL_PACKAGES, ", ".join(sorted(closure))


def test_every_dependency_has_an_upper_bound_and_a_pin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *chain.from_iterable(extras)]
    pins = [Requirement(line) for line in (ROOT / "constraints.txt").read_text("utf-8").split()]
    pinned = {canonicalize_name(pin.name): pin for pin in pins}
    for requirement in map(Requirement, wanted):
        if requirement.name == "loop-harness":
            continue
        assert "<" in {s.operator[0] for s in requirement.specifier}, f"{requirement}: no bound"
        pin = pinned[canonicalize_name(requirement.name)]
        version = str(pin.specifier).removeprefix("==")
        assert requirement.specifier.contains(version), f"{pin} is outside {requirement}"


def test_the_demo_installs_what_it_imports() -> None:
    """`make demo` installs the extra of this name, and not what developers use."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["demo"]]
    installed = {canonicalize_name(Requirement(line).name) for line in wanted}
    tree = ast.parse((ROOT / "examples" / "demo.py").read_text("utf-8"))
    named = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
    named += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    own = {*sys.stdlib_module_names, "examples", "harness", "tests"}
    assert {name.partition(".")[0] for name in named} - own <= installed


def _closure(name: str) -> set[str]:
    """The distributions that an install of `name` without extras brings, itself included."""
    seen: set[tuple[str, frozenset[str]]] = set()
    todo = [(name, frozenset[str]())]
    while todo:
        item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        for requirement in map(Requirement, distribution(item[0]).requires or []):
            marker, extras = requirement.marker, {"", *item[1]}
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
                todo.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return {name for name, _ in seen}
