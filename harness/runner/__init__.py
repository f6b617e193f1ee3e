"""The runner: a scenario and a target become a history and a verdict.

`prepare` puts a run together, `simulate` and `supervise` are the two worlds in which it passes,
`record` writes what happened before it is judged.
"""

from harness.runner.run import Run, run

__all__ = ["Run", "run"]
