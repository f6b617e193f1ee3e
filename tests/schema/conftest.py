"""A plug-in with one fault."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from harness.parts.loading import Plugin, loaded, set_loaded

_SOURCE = '''
from harness.faults import Moment, Plan, Seconds
SEAMS = ("store",)
def slow_disk(moment: Moment, plan: Plan, *, wait_s: Seconds = 1.0) -> Plan:
    """The disk is slow: each write takes `wait_s` seconds."""
    return plan
'''


@pytest.fixture
def plugged() -> Iterator[Plugin]:
    """The plug-in `mine`, loaded."""
    module = ModuleType("mine")
    exec(_SOURCE, module.__dict__)
    plugin, before = Plugin("mine", module), loaded()
    set_loaded((*before, plugin))
    yield plugin
    set_loaded(before)
