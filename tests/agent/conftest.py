"""Both ways of asking the model."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[False, True], ids=["plain", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Both ways of asking."""
    return bool(request.param)
