"""Options that all tests share: how hard Hypothesis tries, and where node is.

`HYPOTHESIS_PROFILE` names the profile; without it CI is derandomized, so that a red build is red
again, and a developer's machine is not.
"""

from __future__ import annotations

import os
import shutil
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests import tiers

pytest_plugins = ["pytester"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has Ctrl-C ignored, and what they start
    # inherits that; some of it is there to be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A command of a test writes no annotation and no summary of the step in which the tests run.
for _name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(_name, None)

settings.register_profile("ci", deadline=None, max_examples=20, derandomize=True, database=None)
settings.register_profile("dev", deadline=None, max_examples=30)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=5000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests their tiers, before `-m` chooses."""
    tiers.mark(items)


@pytest.fixture(scope="session")
def node() -> str:
    """The path of node; without one a test is skipped, but fails where `CI` is set."""
    path = shutil.which("node")
    if path is None and os.environ.get("CI"):
        pytest.fail("node is missing: install node 18 or later")
    return path or pytest.skip("node is not installed")
