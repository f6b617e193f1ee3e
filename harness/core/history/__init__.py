"""The events of a run, and the readings of them that checks and faults use."""
