"""Where modules of the start folder are found, and where not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import import_path
from harness.core.values.errors import InputError
from harness.targets.spec import resolve
from tests.documents import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder; the path, the finders and the modules are as before after."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    before = {*sys.modules}
    yield tmp_path
    for name in {*sys.modules} - before:
        del sys.modules[name]


@pytest.mark.parametrize("entry", ["", ".", "{folder}", "{folder}/", "{folder}/../{name}"])
def test_the_start_folder_leaves_the_path_in_each_form(entry: str, folder: Path) -> None:
    before = [*sys.path]
    named = entry.format(folder=folder, name=folder.name)
    sys.path[:] = [named, *before, named]
    import_path.leave_start_folder()
    assert sys.path == before


def test_the_folder_of_the_sources_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    import_path.leave_start_folder()
    assert sys.path[0] == str(ROOT)


def test_the_agent_finds_its_own_modules_before_installed_ones(folder: Path) -> None:
    """A package `xdist` of the user is his, where his own code asks for it."""
    (folder / "jsonpatch_mine.py").write_text("OURS = True\n")
    (folder / "calendar.py").write_text("raise SystemExit('taken for the standard library')\n")
    (folder / "tabulate_mine.py").write_text(
        "import calendar\nimport jsonpatch_mine\n\ndef agent(brief):\n"
        "    return jsonpatch_mine.OURS and calendar.month_name[1]\n"
    )
    sys.modules.pop("calendar", None)
    agent = resolve("tabulate_mine:agent").agent
    assert agent is not None
    assert agent(None) == "January"


def test_what_an_installed_package_imports_is_installed(folder: Path, tmp_path: Path) -> None:
    """The SDK means its own `pydantic`; a framework may import the user's `settings_mine`."""
    packages = tmp_path / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "their_part.py").write_text("WHOSE = 'installed'\n")
    (packages / "their_kit.py").write_text("import settings_mine, their_part\n")
    (folder / "their_part.py").write_text("WHOSE = 'the folder'\n")
    (folder / "settings_mine.py").write_text("")
    (folder / "mine.py").write_text("import their_kit\n\ndef agent(brief): ...\n")
    sys.path.append(str(packages))
    resolve("mine:agent")
    assert sys.modules["their_part"].WHOSE == "installed"
    del sys.modules["their_part"], sys.modules["mine"]
    (folder / "mine.py").write_text("import their_part\n\ndef agent(brief): ...\n")
    resolve("mine:agent")
    assert sys.modules["their_part"].WHOSE == "the folder"


@pytest.mark.parametrize(
    ("module", "text", "spec"),
    [
        ("mine", "from calendar import seats\n", "mine:agent"),
        ("mine", "import calendar\n\nseats = calendar.seats\n", "mine:agent"),
        ("calendar", "def agent(brief): ...\n", "calendar:agent"),
        ("harness", "def my_loop(brief): ...\n", "harness:my_loop"),
    ],
)
def test_a_name_that_is_taken_is_told(module: str, text: str, spec: str, folder: Path) -> None:
    (folder / "calendar.py").write_text("seats = 3\n")
    (folder / f"{module}.py").write_text(text)
    owner = "loop-harness" if module == "harness" else "the standard library"
    taken = "harness" if module == "harness" else "calendar"
    with pytest.raises(InputError) as caught:
        resolve(spec)
    assert (
        f"{taken}.py of this folder has a name of {owner}, which comes first: rename it"
        in caught.value.what
    )


@pytest.mark.parametrize("given", [None, "", "1"])
def test_a_new_process_does_not_find_the_folder_and_the_variable_is_as_it_was(
    given: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if given is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", given)
    (folder / "runpy.py").write_text("raise SystemExit('ran')\n")
    sys.path.insert(0, str(folder))
    path = [*sys.path]
    with import_path.outside_start_folder():
        assert str(folder) not in sys.path
        done = subprocess.run([sys.executable, "-c", "import runpy"], check=False)
    assert done.returncode == 0
    assert (sys.path, os.environ.get("PYTHONSAFEPATH")) == (path, given)


def test_each_dependency_is_ours() -> None:
    import tomllib

    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    modules = {
        "pyyaml": "yaml",
        "vcrpy": "vcr",
        "jsonschema-rs": "jsonschema_rs",
        "time-machine": "time_machine",
    }
    names = {need.partition(">")[0] for need in needs}
    assert {modules.get(name, name) for name in names} <= import_path.OURS
