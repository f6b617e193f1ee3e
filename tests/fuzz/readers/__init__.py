"""Mutated files against every reader: `make fuzz-readers`."""
