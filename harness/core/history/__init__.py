"""What happened in a run: its events, and the readings of them that checks and faults ask for."""
