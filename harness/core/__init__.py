"""The pure core: values, the history, the scenario, and the transition between them.

This room reads no clock, file, socket or random source; all that it needs is handed in. So a run
can be replayed, shrunk and judged again from its history.
"""
