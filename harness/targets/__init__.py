"""Targets: the agents under test, found by their specification."""

from harness.targets.spec import End as End
from harness.targets.spec import TargetSpec as TargetSpec
from harness.targets.spec import names as names
from harness.targets.spec import of_callable as of_callable
from harness.targets.spec import resolve as resolve
