"""The plug-ins of a process, and what is said of a name that none of them brings."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from harness.core.values.errors import InputError
from harness.parts.loading import Kind, Plugin, loaded, set_loaded, unknown_name
from harness.parts.part import Part

KNOWN = ["http.status", "http.moved", "sse.cut", "valid_request", *(f"x.n{n}" for n in range(30))]


def _plugin(prefix: str) -> Plugin:
    return Plugin(prefix, ModuleType(prefix))


@pytest.mark.parametrize(
    ("name", "is_missing"),
    [
        ("my_parts.slow_disk", True),
        ("htp.status", False),
        ("http.statuss", False),
        ("slow_disk", False),
        ("valid_reqest.V4", False),
    ],
)
def test_a_prefix_that_nobody_has(name: str, is_missing: bool) -> None:
    said = unknown_name(name, KNOWN)
    assert ("no plug-in with the prefix" in said) == is_missing
    assert len(said) < 250


def test_a_plugin_that_is_loaded_is_not_missing() -> None:
    before = loaded()
    try:
        set_loaded((_plugin("my_parts"),))
        assert "no plug-in" not in unknown_name("my_parts.slow_disk", KNOWN)
    finally:
        set_loaded(before)


def test_public_functions_of_the_module_and_of_those_below_it() -> None:
    module = ModuleType("pack")

    def own() -> None: ...
    def below() -> None: ...
    def other() -> None: ...
    def _helper() -> None: ...

    homes = {own: "pack", below: "pack.parts", other: "package", _helper: "pack"}
    for function, home in homes.items():
        function.__module__ = home
        setattr(module, function.__name__, function)
    assert list(Plugin("pack", module).functions) == ["below", "own"]


def _told(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> InputError:
    """The error for a package of parts with one file."""
    package = folder / f"{folder.name.replace('-', '_')}_parts"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "wrong.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    kind = Kind("part", "any", lambda file: file.functions["part"](), Part, folder=package.name)
    with pytest.raises(InputError) as caught:
        kind.own()
    assert caught.value.place == f"module '{package.name}.wrong'"
    assert f"{package}/wrong.py:" in caught.value.what
    return caught.value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\n\ny = Nothing\n", "NameError: name 'Nothing' is not defined"),
        ("x = 1\n\nraise RuntimeError('oh')\n", "RuntimeError: oh"),
        ("x = 1\n\ndef part(:\n", "SyntaxError: "),
        ("def part():\n\n    return {}[1]\n", "KeyError: 1"),
    ],
)
def test_an_error_while_a_part_is_loaded_is_its_authors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    error = _told(tmp_path, text, monkeypatch)
    assert error.what.startswith(f"cannot be loaded: {told}")
    assert error.what.endswith("wrong.py:3)")
