"""The pure core: values, history, transition, script, draws and verdict.

Nothing in this room reads a clock, a file, a socket or a random source; everything it
needs is handed in. So a run can be replayed, shrunk and judged again from its history.
"""
