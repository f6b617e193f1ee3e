"""The configuration: where each value comes from, and one clear line for each mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from harness.cli import main
from tests.cli.talks import REFERENCE, Done

Run: TypeAlias = Callable[..., Done]

PROJECT = """\
[project]
name = "x"

[tool.harness]
profile = "mine"
seed = 7
catalogue = ["mine"]
limits = {real_s = 40}

[tool.harness.profiles.mine]
target = "a.b:agent"
wires = ["gemini"]

[tool.harness.profiles.mine.capabilities]
session = false
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in its own folder, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARNESS_PROFILE", raising=False)

    def command(*words: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(words)
        out, err = capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    return command


def _rows(done: Done) -> dict[str, tuple[object, str]]:
    assert done.status == 0, done.err
    rows = map(json.loads, done.out.splitlines())
    return {row["key"]: (row["value"], row["from"]) for row in rows}


def test_each_value_says_where_it_comes_from(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    rows = _rows(run("config", "--json"))
    assert rows["profile"] == ("mine", "pyproject.toml:5")
    assert rows["target"] == ("a.b:agent", "pyproject.toml:11")
    assert rows["seed"] == (7, "pyproject.toml:6")
    assert rows["catalogue"] == (["mine"], "pyproject.toml:7")
    assert rows["limits.real_s"] == (40.0, "pyproject.toml:8")
    assert rows["limits.memory_mb"] == (None, "default")
    assert rows["capabilities.session"] == (False, "pyproject.toml:15")
    assert rows["wires"] == (["gemini"], "pyproject.toml:12")
    assert rows["stream"] == ("either", "default")


def test_a_flag_wins_and_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    words = ["--target", "x", "--seed", "3", "--fail-on", "defect", "--real-s", "2"]
    rows = _rows(run("config", "--json", *words))
    assert rows["target"] == ("x", "--target")
    assert rows["seed"] == (3, "--seed")
    assert rows["fail-on"] == ("defect", "--fail-on")
    assert rows["limits.real_s"] == (2.0, "--real-s")


def test_the_environment_names_a_profile(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text("tool_prefix: a\ntarget: c.d:agent\n")
    monkeypatch.setenv("HARNESS_PROFILE", "mine.yaml")
    rows = _rows(run("config", "--json"))
    assert rows["profile"] == ("mine.yaml", "$HARNESS_PROFILE")
    assert rows["target"] == ("c.d:agent", "mine.yaml:2")
    assert _rows(run("config", "--json", "--no-config"))["target"] == ("c.d:agent", "mine.yaml:2")


def test_without_configuration_all_is_default(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    assert {origin for _, origin in _rows(run("config", "--json", "--no-config")).values()} == {
        "default"
    }
    text = run("config", "--no-config").out
    assert "(the folder scenarios)" in text
    assert "(weakness)" in text


def test_the_catalogue_is_what_a_command_plays_that_names_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "harness.toml").write_text('catalogue = ["mine"]\ntarget = "reference"\n')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "hello.yaml").write_text(
        "name: hello\ninbox: Hello\nscript: [{say: Good morning.}]\n"
    )
    assert "hello" in run("list", "scenarios").out
    assert "hello" in run("run", "--dry-run").out
    (tmp_path / "harness.toml").write_text('catalogue = ["mien"]\n')
    assert "mien" in run("run", "--dry-run", "--target", REFERENCE).err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sed = 3\n", ":1: key `sed`: unknown; did you mean 'seed'?"),
        ('seed = "3"\n', ":1: key `seed`: expected `int"),
        ("seed = -1\n", ":1: key `seed`: expected `int` >= 0"),
        ("seed = 1\nseed = 2\n", ":2: not TOML: Cannot overwrite a value"),
        ('plugins = "mine"\n', ":1: key `plugins`: expected `array`, got `str`"),
        ("plugins = [3]\n", ":1: key `plugins`: expected `str`, got `int`"),
        ('profile = "mine"\n', "no profile of this name, and no file"),
        ("profile = 3\n", ":1: key `profile`: expected `str`, got `int`"),
        ('profile = "mine.yaml"\n', "mine.yaml: cannot be read: No such file"),
        ('profiles = "mine"\n', ":1: key `profiles`: a table is expected"),
        ("[profiles]\nmine = 3\n", ":2: expected `object`, got `int`"),
        ("[profiles.mine]\nkep = true\n", ":2: key `kep`: unknown; did you mean 'keep'?"),
        ('[profiles.mine]\nwires = ["gemni"]\n', ":2: key `wires`: there is no wire 'gemni'; "),
        ('[profiles.mine]\nstream = "no"\n', ":2: key `stream`: 'no' is not one of always"),
        ("[profiles.mine.capabilities]\nstor = true\n", ":2: key `stor`: unknown; did you mean"),
        ('[profiles.mine.purposes]\n"(" = "main"\n', ":2: key `purposes`: '(' is not a regular"),
        (
            '[profiles.mine.purposes]\n"a" = "mian"\n',
            ":1: key `purposes`: 'mian' is not one of main",
        ),
        (
            'profile = "mine"\n[profiles.mine.checks.bakoff]\ncap_s = 3\n',
            ":2: key `checks`: there is no check 'bakoff'; did you mean 'backoff'?",
        ),
        (
            'profile = "mine"\n[profiles.mine.checks.backoff]\ncap = 3\n',
            ":3: key `checks`: the check backoff has no setting 'cap'; did you mean 'cap_s'?",
        ),
        (
            'profile = "mine"\n[profiles.mine.checks.backoff]\ncap_s = "x"\n',
            ":3: key `checks`: the check backoff: setting 'cap_s': expected `float`, got `str`",
        ),
        ("[profiles.mine.limits]\nreal_s = 0\n", ":2: key `real_s`: expected `float` > 0"),
        ("[profiles.mine]\ngives_up_after = 0\n", ":2: key `gives_up_after`: expected `int` >= 1"),
        ("target = 3\n", ":1: key `target`: expected `str`, got `int`"),
        ('catalogue = "scenarios"\n', ":1: key `catalogue`: expected `array`, got `str`"),
        ('fail-on = "defekt"\n', ":1: key `fail-on`: 'defekt' is not one of defect, "),
        ('fail_on = "defect"\n', ":1: key `fail_on`: unknown; did you mean 'fail-on'?"),
        ("limits = 30\n", ":1: key `limits`: expected `object`, got `int`"),
        ("[limits]\nreal = 30\n", ":2: key `real`: unknown; did you mean 'real_s'?"),
        ("[limits]\nmemory_mb = 0.5\n", ":2: key `memory_mb`: expected `int"),
        ('files-from = "cassettes"\n', ":1: key `files-from`: expected `array`, got `str`"),
        ("seed = \n", ":1: not TOML: "),
        ("seed = 3\n[limits\n", ":2: not TOML: "),
    ],
)
def test_a_mistake_is_one_clear_line(run: Run, tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "harness.toml").write_text(text)
    done = run("config")
    assert done.status == 2
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("error: ")
    assert told in done.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('\nplugins = ["no_such_module"]\n', ":2: plug-in 'no_such_module': cannot be imported"),
        ('plugins = ["mine.py"]\n', ":1: plug-in 'mine.py': a module is named, as in"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_told_where_it_is_loaded(
    run: Run,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    told: str,
) -> None:
    """`run` loads it; `config` only once the user has said that the folder is his."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    (tmp_path / "harness.toml").write_text(text)
    assert told in run("run", "@loops/circles", "--target", REFERENCE).err
    assert run("config").status == 0
    assert run("config", "--trust").status == 0
    done = run("config")
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert told in done.err
    assert run("config", "--no-trust").status == 0
    assert run("config").status == 0


def test_a_file_that_is_no_text_and_two_files_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "harness.toml").write_bytes(b"seed = 3 # \xff\n")
    assert "not UTF-8 at byte 11" in run("config").err
    (tmp_path / "harness.toml").write_text("seed = 3\n")
    (tmp_path / "pyproject.toml").write_text("[tool.harness]\nseed = 3\n")
    assert "pyproject.toml has [tool.harness] too: keep one of them" in run("config").err
    (tmp_path / "harness.toml").unlink()
    (tmp_path / "pyproject.toml").write_text("[tool]\nharness = 3\n")
    assert "pyproject.toml:2: key `harness`: a table is expected" in run("config").err
