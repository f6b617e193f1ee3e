"""The processes that the harness owns: their signs of life, and their end with the harness.

`proc` reads what the system tells of processes and threads, and `thread_times` and `resource_usage`
make times of it. `machine` says what this machine lacks for a run.
"""
