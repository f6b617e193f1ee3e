"""The list of trusted folders: whole paths, kept with the user, never in a folder that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.files.trusted_folders import is_trusted, list_file, set_trust


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home folder; its list is below `.config`."""
    made = tmp_path / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return made


@pytest.mark.parametrize("name", ["mine", "two words", "Grüße", "line\nbreak", 'quote"'])
def test_a_folder_is_trusted_by_its_whole_path_until_it_is_not(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    (folder / "below").mkdir(parents=True)
    assert not is_trusted(folder)
    assert set_trust(folder, True) == set_trust(folder, True) == list_file()
    assert is_trusted(folder)
    assert not is_trusted(folder / "below")
    assert not is_trusted(tmp_path)
    set_trust(folder, False)
    assert not is_trusted(folder)
    assert list_file().read_text() == ""


def test_a_link_to_a_folder_is_the_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "link").symlink_to("mine")
    set_trust(tmp_path / "link", True)
    assert is_trusted(tmp_path / "mine")


def test_a_folder_that_holds_the_list_cannot_say_that_it_is_trusted(home: Path) -> None:
    """A repository as HOME, as in a container, may bring a list of its own."""
    with pytest.raises(InputError, match="this folder holds the list"):
        set_trust(home, True)
    list_file().parent.mkdir(parents=True, exist_ok=True)
    list_file().write_text(f'"{home}"\n')
    assert not is_trusted(home)


def test_a_relative_configuration_folder_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", "theirs")
    assert list_file().is_relative_to(home)
    monkeypatch.setenv("HOME", "theirs")
    assert not is_trusted(tmp_path)
    with pytest.raises(InputError, match="no absolute path"):
        set_trust(tmp_path, True)
