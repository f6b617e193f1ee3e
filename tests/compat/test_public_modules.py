"""The public modules can be imported, and give each name that they promise."""

from __future__ import annotations

import importlib

import pytest

from tests.generated_api import PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_gives_each_of_its_names(name: str) -> None:
    module = importlib.import_module(name)
    assert [public for public in module.__all__ if getattr(module, public, None) is None] == []
