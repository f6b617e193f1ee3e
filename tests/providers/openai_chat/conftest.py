"""The official client, which sees what is written."""

from __future__ import annotations

import pytest

from tests.providers.openai_chat.sdk import Mouth


@pytest.fixture(scope="module")
def mouth() -> Mouth:
    """One client for the module: to build it costs more than a call."""
    return Mouth()
