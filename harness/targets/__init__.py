"""Targets: what is under test, found by its specification.

`spec` reads a name of the command line. `python_target` calls a Python agent, `process_target`
starts and ends a program, `http_target` gives a server its run.
"""

from harness.targets.spec import End as End
from harness.targets.spec import TargetSpec as TargetSpec
from harness.targets.spec import names as names
from harness.targets.spec import of_callable as of_callable
from harness.targets.spec import resolve as resolve
