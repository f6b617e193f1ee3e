"""The runner: plays a scenario with a target, and returns a history and a verdict.

`run` is one run from end to end. A Python target uses `python_attempt`, or `forked_target` if a
fault may kill it. A program uses `supervise`.
"""

from harness.runner.run import Run as Run
from harness.runner.run import run as run
