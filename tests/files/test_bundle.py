"""What the package contains has names, and only those names lead to it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from harness import find_scenarios, load_scenarios
from harness.core.values.errors import InputError
from harness.files import bundle
from harness.files.bundle import bundled, bundled_files, files_in, named_path, shown

ROOT = Path(__file__).parents[2]


@pytest.fixture
def anew() -> Iterator[None]:
    """Clear the cache of names before and after the test."""
    for forgets in (bundle._root, bundle._names):
        forgets.cache_clear()
    yield
    for forgets in (bundle._root, bundle._names):
        forgets.cache_clear()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("@all", "scenarios"),
        ("@loops", "scenarios/loops"),
        ("@loops/", "scenarios/loops"),
        ("@loops/circles", "scenarios/loops/circles.yaml"),
        ("@loops/circles.yaml", "scenarios/loops/circles.yaml"),
        ("@compaction/oslo.jsonl", "scenarios/compaction/oslo.jsonl"),
        ("@cassettes/replay-spiral", "cassettes/replay-spiral.yaml"),
        ("@cassettes/incidents/empty-inputs", "cassettes/incidents/empty-inputs.history.jsonl"),
        ("@examples/node_agent", "examples/node_agent.mjs"),
        ("@docs/targets", "docs/targets.md"),
    ],
)
def test_a_name_means_a_path(name: str, path: str) -> None:
    assert named_path(name) == ROOT / path


def test_every_file_has_a_name_that_leads_to_it() -> None:
    files = [ROOT / below for below in files_in(ROOT)]
    assert len(files) > 250
    for file in files:
        assert file in bundled(shown(file))
    scenarios = [shown(file) for file in find_scenarios(["@all"])]
    assert all(bundled(name) == (named_path(name),) for name in scenarios)


def test_a_path_of_the_users_own_stays_one(tmp_path: Path) -> None:
    for path in (
        Path("scenarios/loops/circles.yaml"),
        tmp_path / "a.yaml",
        ROOT / "pyproject.toml",
    ):
        assert named_path(str(path)) == path
        assert shown(path) == str(path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("@lops", "did you mean '@loops'"),
        ("@circles", "did you mean '@loops/circles'"),
        ("@gateway/replay-spirl", "did you mean '@gateway/replay-spiral'"),
        ("@examples/naive", "did you mean '@examples/naive_agent'"),
        ("@", "@all"),
        ("@../pyproject.toml", "nothing of this name"),
        ("@loops/../gateway", "nothing of this name"),
        ("@/etc/passwd", "nothing of this name"),
        ("@examples/demo", "nothing of this name"),
        ("@tests", "nothing of this name"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(InputError, match=hint.replace("(", r"\(")):
        bundled(name)


def test_a_folder_holds_its_files_and_a_program_its_modules() -> None:
    assert set(bundled_files(bundled("@loops"))) == set((ROOT / "scenarios/loops").glob("*.yaml"))
    names = {file.name for file in bundled_files(bundled("@examples/node_agent"))}
    assert {"node_agent.mjs", "careful.mjs", "naive.mjs"} <= names


def test_texts_are_names_in_the_public_functions() -> None:
    (file,) = find_scenarios(["@gateway/replay-spiral"])
    assert load_scenarios(file) == load_scenarios("@gateway/replay-spiral")


@pytest.mark.usefixtures("anew")
def test_an_installed_package_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `scenarios` of another package beside it is not looked at."""
    for place in ("harness/bundle/scenarios/mine", "scenarios/foreign"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        (folder / "hello.yaml").write_text("name: hello\n")
    monkeypatch.setattr(resources, "files", lambda name: tmp_path / name)
    assert named_path("@mine/hello") == tmp_path / "harness/bundle/scenarios/mine/hello.yaml"
    assert shown(named_path("@mine/hello")) == "@mine/hello"
    with pytest.raises(InputError):
        bundled("@foreign")


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("kind", ["archive", "package"])
def test_without_the_files_it_says_what_to_install(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("harness/bundle/scenarios/mine/hello.yaml", "name: hello\n")
    inside = zipfile.Path(tmp_path / "all.zip", "harness/")
    monkeypatch.setattr(
        resources, "files", lambda name: inside if kind == "archive" else tmp_path / name
    )
    with pytest.raises(InputError, match="brings no scenarios: install the wheel"):
        bundled("@mine")
    assert bundle.catalogue() == ()
    assert shown(tmp_path / "a.yaml") == str(tmp_path / "a.yaml")
