"""Without the package or a cluster, `--engine ray` is an input that cannot be used."""

from __future__ import annotations

import sys

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
    ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")

    def refused(**settings: object) -> None:
        raise ConnectionError("nobody there")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refused)
    with pytest.raises(InputError, match=r"ray start --head.*nobody there"):
        Ray()
