"""The runner: a scenario and a target become a history and a verdict.

`run` is one run from end to end. A Python target uses `python_attempt`, or `forked_target` where a
fault may kill it; a program uses `supervise`.
"""

from harness.runner.run import Run as Run
from harness.runner.run import run as run
