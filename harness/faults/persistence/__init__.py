"""Persistence faults: the store of the agent's session fails, lies, or was damaged before.

They bend the plans of the store seam. A write's plan sends what is written, in the store's own
bytes, and answers that it is kept; opening sends a record for each stored row; a read is only
answered. Three groups bend other seams, at the moments that lie between storing and the rest.
"""
