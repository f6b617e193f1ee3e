"""Persistence faults: the store of the agent's session fails, lies, or is damaged.

They change the store seam's plans: a write's plan sends the store's own bytes, and opening sends a
record for each row. `other_seams` holds the faults between storing and the rest.
"""
