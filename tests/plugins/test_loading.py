"""How a plug-in is found, and what is said of one that cannot be used: always one line."""

from __future__ import annotations

from pathlib import Path

import pytest

import harness as face
from harness.core.values.errors import InputError
from harness.parts.loading import loaded, set_loaded
from harness.plugins import configured, load_plugins, loaded_modules
from tests.plugins.conftest import MY_PARTS, Line

RUN = ("run", "scenarios", "--target", "reference", "--only", "greeting")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        pytest.param(
            "pyproject.toml",
            '[project]\nname = "x"\n[tool.harness]\nplugins = ["my_parts"]\n',
            marks=pytest.mark.real,
        ),
        ("harness.toml", 'plugins = ["my_parts"]\n'),
    ],
)
def test_the_start_folder_configures(file: str, text: str, harness: Line, folder: Path) -> None:
    (folder / file).write_text(text)
    assert harness(*RUN).status == 0
    status, _, err = harness(*RUN, "--no-config")
    assert status == 2
    assert "no plug-in with the prefix 'my_parts' is loaded" in err
    assert harness(*RUN, "--no-config", "--plugin", "my_parts").status == 0


def test_a_verb_that_reads_loads_them_where_the_folder_is_the_user_s(
    harness: Line,
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    (folder / "harness.toml").write_text('plugins = ["my_parts"]\n')
    (folder / "my_parts.py").write_text(f"open('ran', 'w').close()\n{MY_PARTS}")
    done = harness("list", "faults")
    assert "my_parts.slow_disk" not in done.out
    assert not (folder / "ran").exists()
    assert done.err == (
        "not loaded: my_parts, which the configuration of this folder names; --plugin my_parts "
        "loads it, and `harness config --trust` says that the folder is yours\n"
    )
    assert "my_parts.slow_disk" in harness("list", "faults", "--plugin", "my_parts").out
    assert harness("config", "--trust").status == 0
    done = harness("list", "faults")
    assert "my_parts.slow_disk" in done.out
    assert done.err == ""
    assert harness("config", "--no-trust").status == 0
    assert "my_parts.slow_disk" not in harness("list", "faults").out


def test_a_folder_of_scenarios_configures_nothing(harness: Line, folder: Path) -> None:
    (folder / "scenarios" / "harness.toml").write_text('plugins = ["my_parts"]\n')
    assert harness(*RUN).status == 2


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("pyproject.toml", '[tool.harness]\n\nplugin = ["x"]\n',
         "pyproject.toml:3: key `plugin`: unknown; did you mean 'plugins'?"),
        ("harness.toml", "# mine\nsede = 7\n", "harness.toml:2: key `sede`: unknown;"),
        ("pyproject.toml", '[tool.harness]\nplugins = "my_parts"\n',
         "pyproject.toml:2: key `plugins`: expected `array`, got `str`"),
        ("pyproject.toml", "[tool]\nharness = 3\n", "pyproject.toml:2: key `harness`: a table"),
        ("harness.toml", "plugins = [\n", "harness.toml: not TOML"),
        ("pyproject.toml", "[tool.harness.profiles.mine]\nkep = true\n",
         "pyproject.toml:2: key `kep`: unknown; did you mean 'keep'?"),
        ("harness.toml", "profiles = 3\n", "harness.toml:1: key `profiles`: a table is expected"),
    ],
)  # fmt: skip
def test_a_wrong_configuration(
    file: str, text: str, said: str, harness: Line, folder: Path
) -> None:
    (folder / file).write_text(text)
    status, _, err = harness("list", "targets")
    assert status == 2
    assert said in err
    assert len(err.splitlines()) == 1
    assert harness("list", "targets", "--no-config").status == 0


def test_two_files_that_configure(harness: Line, folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.harness]\n")
    (folder / "harness.toml").write_text("")
    assert "pyproject.toml has [tool.harness] too" in harness("list", "targets").err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import gone_away\n", "Error: No module named 'gone_away' (other_parts.py:1)"),
        ("\n\nx = 1 / 0\n", "ZeroDivisionError: division by zero (other_parts.py:3)"),
        ("import json\n\njson.loads('[')\n", "(other_parts.py:3)"),
        ("x = = 1\n", "SyntaxError: invalid syntax (other_parts.py, line 1) (other_parts.py:1)"),
        ("raise SystemExit(3)\n", "SystemExit: 3 (other_parts.py:1)"),
        ("x = 1\n", "it has no public function, so it has no part"),
        ("def helper(a): ...\n", "other_parts.py:1): a function of no kind"),
        ("PREFIX = 'Mine!'\ndef f(moment, plan): ...\n", "'Mine!' is not a lower-case name"),
        ("PREFIX = 'http'\ndef f(moment, plan): ...\n", "the prefix 'http' is one of loop-"),
        ("PREFIX = 'backoff'\ndef f(moment, plan): ...\n", "the prefix 'backoff' is one of loop-"),
        ("PREFIX = 'limit'\ndef f(moment, plan): ...\n", "the prefix 'limit' is one of loop-"),
        ("PREFIX = 'my_parts'\ndef f(moment, plan): ...\n", "that of the plug-in 'my_parts' too"),
        ("CODES = {'gone': ('T1',)}\ndef f(moment, plan): ...\n", "plug-in 'other_parts': "),
        ("def f(moment, plan, *, size): ...\n", "plug-in 'other_parts': "),
    ],
)  # fmt: skip
def test_a_plugin_that_cannot_be_used(text: str, said: str, harness: Line, folder: Path) -> None:
    (folder / "other_parts.py").write_text(text)
    flags = ("--plugin", "my_parts", "--plugin", "other_parts")
    status, out, err = harness("list", "faults", *flags)
    assert (status, out) == (2, "")
    assert said in err
    assert err.startswith("error: plug-in 'other_parts'")
    assert len(err.splitlines()) == 1
    assert loaded() == (), "all of them, or none"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone_parts", "ModuleNotFoundError: No module named 'gone_parts'"),
        ("my_parts.py", "a module is named, as in `my_parts`"),
        ("./my_parts", "a module is named, as in `my_parts`"),
    ],
)
def test_a_module_that_there_is_not(name: str, said: str, harness: Line) -> None:
    status, _, err = harness("list", "faults", "--plugin", name)
    assert status == 2
    assert err.startswith(f"error: plug-in {name!r}: ")
    assert said in err


def test_a_scenario_whose_plugin_is_not_loaded(harness: Line, folder: Path) -> None:
    status, _, err = harness(*RUN)
    assert status == 2
    assert err.startswith("error: scenarios/greeting.yaml:4: fault")
    assert "no plug-in with the prefix 'my_parts' is loaded (--plugin MODULE, or" in err
    assert len(err.splitlines()) == 1
    assert len(err) < 400


def test_a_name_that_the_plugin_has_not(harness: Line, folder: Path) -> None:
    scenario = folder / "scenarios" / "greeting.yaml"
    scenario.write_text(scenario.read_text().replace("slow_disk", "slow_disc"))
    status, _, err = harness(*RUN, "--plugin", "my_parts")
    assert status == 2
    assert "'my_parts.slow_disk'" in err
    assert "no plug-in" not in err


def test_a_package_gathers_its_modules(harness: Line, folder: Path) -> None:
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("from pack.parts import polite, slow_disk\n")
    (folder / "pack" / "parts.py").write_text(MY_PARTS)
    out = harness("list", "faults", "--plugin", "pack").out
    assert "pack.slow_disk" in out


def test_the_api(folder: Path) -> None:
    set_loaded(())
    assert [plugin.prefix for plugin in face.load_plugins("my_parts")] == ["my_parts"]
    assert face.load_plugins("my_parts", "my_parts") == loaded()
    assert loaded_modules() == ("my_parts",)
    (scenario, *_) = face.load_scenarios("scenarios/greeting.yaml")
    assert scenario.faults[0].kind == "my_parts.slow_disk"


def test_an_installed_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = folder / "installed-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: installed\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[loop_harness]\nparts = my_parts\n")
    monkeypatch.syspath_prepend(str(folder))
    set_loaded(())
    configured()
    assert loaded_modules() == ("my_parts",)
    set_loaded(())
    configured(config=False)
    assert loaded() == ()


def test_nothing_is_left_of_what_failed(folder: Path) -> None:
    set_loaded(())
    with pytest.raises(InputError):
        load_plugins("my_parts", "gone_parts")
    assert loaded() == ()


def test_a_scenario_never_imports(harness: Line, folder: Path) -> None:
    (folder / "again.py").write_text("raise SystemExit('imported')\n")
    (folder / "scenarios" / "greeting.yaml").write_text(
        "name: greeting\ninbox: hi\nscript: [{say: hi}]\nfaults: [{kind: again.slow}]\n"
    )
    status, _, err = harness("run", "--target", "reference")
    assert (status, "imported" in err) == (2, False)
