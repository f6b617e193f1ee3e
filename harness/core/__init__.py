"""The pure core: values, the history, the scenario, and the transition between them.

This room does no IO and reads no clock or random source; callers pass all inputs. So a run can be
replayed, shrunk and judged again from its history.
"""
