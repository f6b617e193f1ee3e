"""The files of a scenario stand below its folder, or where the user's configuration says."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.core.scenario.scenario import CassetteScript, Scenario
from harness.core.values.errors import InputError
from harness.runner.session_seed import scenario_path, seed_messages

SESSION = '{"role":"user","blocks":[{"type":"text","text":"secret"}]}\n'


def _scenario(folder: Path, name: str, **more: object) -> Scenario:
    return Scenario(name="s", folder=str(folder), script=CassetteScript(cassette=name), **more)  # type: ignore[arg-type]


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A folder of scenarios with a file in it, beside a secret."""
    folder = tmp_path / "scenarios"
    (folder / "below").mkdir(parents=True)
    (folder / "below/x").write_text(SESSION)
    (tmp_path / "secret").write_text(SESSION)
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "in").symlink_to(folder / "below/x")
    return folder


@pytest.mark.parametrize("name", ["below/x", "in", "below/../below/x", "gone"])
def test_below_the_folder(inside: Path, name: str) -> None:
    assert scenario_path(_scenario(inside, name), name) == inside / name


@pytest.mark.parametrize("name", ["../secret", "out", "/etc/passwd", "below/../../secret", "/"])
def test_outside_of_the_folder(inside: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"outside the scenario's folder.*files-from"):
        scenario_path(_scenario(inside, name), name)


@pytest.mark.parametrize("name", ["\0", "x" * 5000, "\ud800"])
def test_what_is_no_path(inside: Path, name: str) -> None:
    with pytest.raises(InputError, match="not a path of a file"):
        scenario_path(_scenario(inside, name), name)


def test_the_configuration_allows_more(inside: Path) -> None:
    allowed = _scenario(inside, "../secret", files_from=(str(inside.parent),))
    assert scenario_path(allowed, "../secret").resolve() == inside.parent / "secret"


def test_a_scenario_made_in_python_names_what_it_likes(inside: Path) -> None:
    path = str(inside.parent / "secret")
    scenario = msgspec.convert({"name": "s", "session": {"file": path}}, Scenario)
    assert [message.text for message in seed_messages(scenario)] == ["secret"]
