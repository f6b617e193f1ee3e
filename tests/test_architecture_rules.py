"""Every rule of the architecture can fail: small wrong trees, and the lines they must give."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests import architecture_rules as rules
from tests import architecture_tables as table
from tests import event_rules
from tests import shape_rules as shape

Rule = Callable[[Iterable[rules.Module]], Iterator[str]]

HISTORY = (
    "class Event: ...\nclass Called(Event): ...\n"
    "class History:\n    def called(self, **f): return Called(**f)\n    def read(self): ...\n"
)
LONG = "def f():\n" + "    pass\n" * 40
DOCUMENTED = '"""A module."""\n\n\ndef f():\n    """Long."""\n' + "    pass\n" * 39


def write(tmp_path: Path, files: dict[str, str]) -> list[rules.Module]:
    """A package `harness` of these files."""
    root = tmp_path / "harness"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return rules.modules(root)


WRONG: list[tuple[Rule, dict[str, str], list[str]]] = [
    (rules.pure_rooms, {"core/a.py": "import os"}, ["core/a.py:1 pure room imports os"]),
    (rules.pure_rooms, {"core/a.py": "from pathlib import Path"}, ["imports pathlib.Path"]),
    (rules.pure_rooms, {"core/a.py": "import random"}, ["a.py:1 pure room imports random"]),
    (rules.pure_rooms, {"providers/a.py": "\nfrom time import time"}, ["a.py:2 pure room imports"]),
    (rules.pure_rooms, {"checks/a.py": "import logging as l"}, ["pure room imports logging"]),
    (rules.pure_rooms, {"faults/h/a.py": "def f():\n import uuid"}, ["a.py:2 pure room imports"]),
    (rules.pure_rooms, {"agent/guards.py": "import socket"}, ["pure room imports socket"]),
    (rules.pure_rooms, {"providers/a.py": "from http import client"}, ["imports http.client"]),
    (rules.pure_rooms, {"recordings/a.py": "x = open('f')"}, ["a.py:1 pure room calls open()"]),
    (rules.pure_rooms, {"core/a.py": "x = hash('f')"}, ["a.py:1 pure room calls hash()"]),
    (rules.pure_rooms, {"core/a.py": "x = datetime.now()"}, ["reads the clock: .now()"]),
    (rules.floors, {"core/a.py": "from harness.runner import run"}, ["core may not import"]),
    (rules.floors, {"checks/a.py": "import harness.faults.sse"}, ["checks may not import"]),
    (
        rules.floors,
        {"stores/a.py": "def f():\n from harness import transports"},
        ["a.py:2 stores may"],
    ),
    (rules.floors, {"core/a.py": "if TYPE_CHECKING:\n import harness.cli"}, ["a.py:2 core may"]),
    (rules.floors, {"core/a.py": "from ..clock import Clock"}, ["core may not import harness.cl"]),
    (rules.floors, {"core/__init__.py": "from .. import files"}, ["core may not import harness.f"]),
    (rules.floors, {"cli/a.py": "from harness import play"}, ["cli may not import harness.play"]),
    (rules.floors, {"utils.py": ""}, ["utils.py:1 room utils has no floor"]),
    (
        rules.sub_floors,
        {"core/values/a.py": "from harness.core.history import b"},
        ["core.values may not import harness.core.history.b"],
    ),
    (
        rules.sub_floors,
        {"checks/evidence/a.py": "def f(): from ..loops import b"},
        ["checks.evidence may not import harness.checks.loops.b"],
    ),
    (
        rules.siblings,
        {"providers/a/codec.py": "from harness.providers.b.codec import x"},
        ["providers.a may not import its sibling harness.providers.b.codec.x"],
    ),
    (
        rules.siblings,
        {"recordings/readers/a.py": "from harness.recordings.readers import b"},
        ["readers.a may not import its sibling harness.recordings.readers.b"],
    ),
    (
        rules.siblings,
        {"providers/shared/a.py": "import harness.providers.b"},
        ["providers.shared may not import its sibling harness.providers.b"],
    ),
    (
        rules.names,
        {"core/values/a.py": "", "runner/a.py": "", "cli/a.py": ""},
        ["runner/a.py:1 a second file of this name: "],
    ),
    (
        rules.providers_in_core,
        {"core/a.py": "x = 1\nNAMES = ('openai-chat',)"},
        ["a.py:2 core names the provider openai"],
    ),
    (
        rules.providers_in_core,
        {"core/scenario/scenario.py": "WIRE = 'anthropic'\nKEEP = 'anthropic-beta'"},
        ["scenario.py:2 core names the provider anthropic"],
    ),
    (
        rules.cycles,
        {"core/a.py": "from harness.core.b import x", "core/b.py": "from harness.core import a"},
        ["cycle of modules: core."],
    ),
    (
        rules.cycles,
        {"cli/a.py": "def f(): import harness.cli.b", "cli/b.py": "from harness.cli.a import x"},
        ["cycle of modules: cli."],
    ),
    (
        rules.cycles,
        {
            "transports/a.py": "import harness.targets.b",
            "targets/c.py": "def f(): import harness.transports",
        },
        ["cycle of rooms: "],
    ),
    (rules.packages, {"runner.py": "import yaml"}, ["runner.py:1 yaml is not imported here"]),
    (rules.packages, {"core/a.py": "from numpy.linalg import norm"}, ["numpy is not imported"]),
    (
        event_rules.events,
        {"core/history/events.py": HISTORY, "core/transition/a.py": "history.Called(n=1)"},
        ["a.py:1 builds the event Called"],
    ),
    (
        event_rules.events,
        {
            "core/history/events.py": HISTORY,
            "recordings/a.py": "from harness.core.history.events import Called as C\nC(n=1)",
        },
        ["recordings/a.py:2 builds the event C"],
    ),
    (
        event_rules.events,
        {"core/history/events.py": HISTORY, "checks/a.py": "self._history.called(n=1)"},
        ["a.py:1 only EVENT_MAKERS call history.called()"],
    ),
    (
        event_rules.events,
        {"core/history/events.py": HISTORY, "transports/a.py": "log.called(at_ms=1)"},
        ["a.py:1 only EVENT_MAKERS call history.called()"],
    ),
    (shape.sizes, {"cli/a.py": "x = 1\n" * 401}, ["a.py:401 file has 401 lines"]),
    (shape.sizes, {"cli/a.py": LONG}, ["a.py:1 f has 41 lines"]),
    (shape.docstrings, {"cli/__init__.py": ""}, ["__init__.py:1 module has no docstring"]),
    (shape.docstrings, {"a.py": "'A.'\ndef f(): ..."}, ["a.py:2 f has no docstring"]),
    (shape.docstrings, {"a.py": "'A.'\nclass A:\n 'A.'\n def f(): ..."}, ["a.py:4 A.f has no"]),
    (shape.shared_state, {"a.py": "def f(x=[]): ..."}, ["a.py:1 mutable default argument"]),
    (shape.shared_state, {"a.py": "f = lambda *, x=dict(): x"}, ["a.py:1 mutable default"]),
    (shape.shared_state, {"a.py": "CHECKS: dict[str, int] = {}"}, ["a.py:1 empty container"]),
    (shape.shared_state, {"a.py": "SEEN = set()"}, ["a.py:1 empty container"]),
    (shape.shared_state, {"a.py": "def f():\n global x, y"}, ["a.py:2 global x, y"]),
    (shape.loopback, {"a.py": "HOST = '0.0.0.0'"}, ["a.py:1 names the wildcard address"]),
    (shape.loopback, {"a.py": "s.bind(('', 80))"}, ["a.py:1 binds every interface"]),
    (shape.listeners, {"a.py": "s.listen(5)"}, ["a.py:1 listen opens a listener of its own"]),
    (shape.listeners, {"a.py": "HTTPServer(x, y)"}, ["a.py:1 HTTPServer opens a listener"]),
    (shape.environment, {"a.py": "os.environ['A']"}, ["a.py:1 reads os.environ"]),
    (shape.environment, {"transports/a.py": "from os import getenv"}, ["a.py:1 imports os.getenv"]),
]


@pytest.mark.parametrize(("rule", "files", "lines"), WRONG)
def test_wrong_trees_are_reported(
    rule: Rule, files: dict[str, str], lines: list[str], tmp_path: Path
) -> None:
    found = list(rule(write(tmp_path, files)))
    assert len(found) == len(lines), found
    for line, wanted in zip(found, lines, strict=True):
        assert wanted in line


RIGHT: list[tuple[Rule, dict[str, str]]] = [
    (rules.pure_rooms, {"core/a.py": "from pathlib import PurePath"}),
    (
        rules.pure_rooms,
        {"core/values/draws.py": "import random", "core/a.py": "import re, hashlib"},
    ),
    (
        rules.pure_rooms,
        {"transports/a.py": "import os, time\nopen('x')", "agent/loop.py": "import os"},
    ),
    (
        rules.floors,
        {"core/a.py": "from harness.core.b import c", "transports/a.py": "import harness.files"},
    ),
    (
        rules.floors,
        {"transports/a.py": "import harness.targets", "__init__.py": "import harness.cli"},
    ),
    (
        rules.sub_floors,
        {
            "core/history/a.py": "from harness.core.values import b",
            "runner.py": "import harness.core",
        },
    ),
    (
        rules.siblings,
        {
            "providers/a/codec.py": "from harness.providers.shared import x\nimport harness.core",
            "providers/__init__.py": "import harness.providers.a",
            "cassettes.py": "import harness.providers.a, harness.providers.b",
        },
    ),
    (rules.names, {"cli/a.py": "", "providers/x/a.py": "", "core/a.py": "", "b/__init__.py": ""}),
    (rules.providers_in_core, {"core/a.py": "X = 'a model'", "runner.py": "X = 'anthropic'"}),
    (
        rules.cycles,
        {"cli/a.py": "def f(): import harness.runner.b", "runner/b.py": "import harness.core.a"},
    ),
    (rules.cycles, {"core/__init__.py": "from harness.core.a import x", "core/a.py": "x = 1"}),
    (
        rules.packages,
        {"files.py": "import yaml", "agent/a.py": "import anthropic", "a.py": "import os"},
    ),
    (rules.packages, {"core/a.py": "import msgspec", "transports/mount.py": "import respx"}),
    (
        event_rules.events,
        {"core/history/events.py": HISTORY, "core/transition/a.py": "self.history.called(n=1)"},
    ),
    (
        event_rules.events,
        {"core/history/events.py": HISTORY, "checks/a.py": "history.read(); past.called(1)"},
    ),
    (
        event_rules.events,
        {"core/history/events.py": HISTORY, "clock.py": "from threading import Event\nEvent()"},
    ),
    (shape.sizes, {"a.py": "x = 1\n" * 400, "b.py": DOCUMENTED}),
    (shape.docstrings, {"a.py": DOCUMENTED + "def _private(): ...\n"}),
    (shape.shared_state, {"a.py": "class A:\n x: list[int] = []\nTABLE = {'a': 1}\nNONE = ()"}),
    (shape.loopback, {"a.py": "s.bind(('127.0.0.1', 0)); node.split('::')"}),
    (
        shape.environment,
        {"cli/a.py": "os.environ", "runner/supervise.py": "os.environ", "a.py": "os.path"},
    ),
]


@pytest.mark.parametrize(("rule", "files"), RIGHT)
def test_right_trees_are_silent(rule: Rule, files: dict[str, str], tmp_path: Path) -> None:
    assert list(rule(write(tmp_path, files))) == []


def test_a_face_that_loads_a_heavy_package_is_reported(tmp_path: Path) -> None:
    write(tmp_path, {"__init__.py": "import msgspec"})
    found = list(shape.heavy_imports(tmp_path, "harness", frozenset()))
    assert any("import harness loads msgspec" in line for line in found)
    assert list(shape.heavy_imports(tmp_path, "harness", table.HEAVY)) == []


def test_a_face_that_cannot_be_imported_is_reported(tmp_path: Path) -> None:
    write(tmp_path, {"__init__.py": "import no_such_module"})
    (found,) = shape.heavy_imports(tmp_path, "harness", frozenset())
    assert "import harness fails: ModuleNotFoundError" in found


def test_nothing_that_is_installed_is_tracked() -> None:
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        pytest.skip("not a checkout")
    words = ("site-packages", "node_modules")
    listed = ["git", "ls-files", *(f":(glob)**/{word}/**" for word in words)]
    found = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout
    assert found.splitlines()[:3] == [], "environments go where .gitignore leaves them out"
