"""Without the package or a cluster, `--engine ray` is an input that cannot be used."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from harness.core.values.errors import InputError
from harness.engines.ray import Ray


def test_without_the_package_it_says_which_extra_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"loop-harness\[ray\]"):
        Ray()


def test_without_a_cluster_it_says_how_to_begin_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is of the slow tier, so one that finds no cluster stands in its place."""

    def refused(**settings: object) -> None:
        raise ConnectionError("no server")

    for name in ("ray", "ray._private", "ray._private.worker", "ray.exceptions"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["ray"], "is_initialized", lambda: False, raising=False)
    monkeypatch.setattr(sys.modules["ray"], "init", refused, raising=False)
    with pytest.raises(InputError, match=r"ray start --head.*no server"):
        Ray()
