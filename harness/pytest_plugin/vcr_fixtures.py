"""The fixtures of vcr suites, for a session without pytest-recording and pytest-vcr.

They have the names of those two packages, so a test, a conftest or a class may override them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import vcr as vcrpy

_ILLEGAL = str.maketrans(dict.fromkeys("<>?%*:|\"'/\\", "-"))


@pytest.fixture(scope="module")
def vcr_config() -> dict[str, Any]:
    """Settings of vcrpy, for a suite to override."""
    return {}


@pytest.fixture(scope="module")
def vcr_cassette_dir(request: pytest.FixtureRequest) -> str:
    """The folder of the cassettes: `cassettes/MODULE` beside the module, or `cassettes`."""
    beside = request.path.parent / "cassettes"
    own = beside / request.path.stem
    return str(own if own.is_dir() or not beside.is_dir() else beside)


@pytest.fixture
def default_cassette_name(request: pytest.FixtureRequest) -> str:
    """The name of a test's cassette without its suffix: `TEST`, or `Class.TEST`."""
    owner = f"{request.cls.__name__}." if request.cls else ""
    return f"{owner}{request.node.name}".translate(_ILLEGAL)


@pytest.fixture
def vcr_cassette_name(default_cassette_name: str) -> str:
    """The same, by the name that pytest-vcr gives it."""
    return default_cassette_name


@pytest.fixture(autouse=True)
def vcr(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The cassette of a test with the marker `vcr`; None for any other test."""
    markers = [*request.node.iter_markers("vcr")]
    if not markers:
        yield None
        return
    name: str = request.getfixturevalue("vcr_cassette_name")
    folder: str = request.getfixturevalue("vcr_cassette_dir")
    settings = dict(request.getfixturevalue("vcr_config"))
    for marker in reversed(markers):
        settings |= marker.kwargs
    settings.setdefault("record_mode", "none")
    made = vcrpy.VCR(path_transformer=vcrpy.VCR.ensure_suffix(".yaml"))
    names = [each for marker in reversed(markers) for each in marker.args]
    with made.use_cassette(_existing(folder, [name, *names]), **settings) as cassette:
        yield cassette


@pytest.fixture
def vcr_cassette(vcr: Any) -> Any:
    """The same, by the name that pytest-vcr gives it."""
    return vcr


def _existing(folder: str, names: Sequence[str]) -> str:
    """Return the first of these cassettes that exists, else the first."""
    paths = [os.path.join(folder, name) for name in names]
    return next((p for p in paths if Path(p).exists() or Path(f"{p}.yaml").exists()), paths[0])
