"""The plug-ins of a process, and what is said of a name that none of them brings."""

from __future__ import annotations

from types import ModuleType

import pytest

from harness.parts.loading import Plugin, loaded, set_loaded, unknown_name

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
