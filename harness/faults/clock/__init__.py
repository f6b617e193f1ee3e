"""Clock faults: time jumps, stands still, passes unseen, or is another one on the server.

`wall` and `pauses` move the run's clocks, which only virtual time can do; `server` speaks of times
that are not ours; `overload` depends on when and who, where the faults of the HTTP layer count.
"""
