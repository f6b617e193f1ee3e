"""The real tier has the node that it needs; in CI a missing one fails and is never skipped."""

from __future__ import annotations

import subprocess

import pytest


@pytest.mark.real
def test_node_is_18_or_later(node: str) -> None:
    seen = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    assert int(seen.stdout.removeprefix("v").partition(".")[0]) >= 18, seen.stdout
