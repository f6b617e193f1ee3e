"""Targets: what is under test, found by its specification.

`spec` reads a name of the command line. `python_target` calls a Python agent, `process_target`
starts and ends a program, `http_target` gives a server its run.
"""

from harness.targets.spec import End, TargetSpec, names, of_callable, resolve

__all__ = ["End", "TargetSpec", "names", "of_callable", "resolve"]
