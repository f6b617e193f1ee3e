"""The runner: a scenario and a target become a history and a verdict.

`run` is one run from end to end. `applicability` says which runs cannot be made, `prepare` puts a
run together, and `run_folder` writes what it leaves. A Python target passes through
`python_attempt`, or through `forked_target` where a fault may kill it; a program passes through
`supervise`. `session_seed` and `store_watch` handle the stored session, and `disk_log` keeps a long
history out of memory.
"""

from harness.runner.run import Run as Run
from harness.runner.run import run as run
