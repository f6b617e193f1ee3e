"""Hostile texts and values into every writer: `make fuzz-writers`."""
