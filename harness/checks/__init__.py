"""The checks: invariants over a history, one generator function each.

A check takes a history and its settings and yields findings; what it needs is said by
`core.ports.needs`. All count from the history and never ask the agent. The groups are those of the
invariants: requests, progress, loops, execution, persistence, delivery, outcome; `run` and
`expectation` hold what is wrong with a run rather than with an agent; `judge` applies them all.
"""
