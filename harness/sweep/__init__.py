"""Sweeps: one scenario is played once for each point, such as each write of a store."""
