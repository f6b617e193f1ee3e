"""Sweeps: one scenario is played once for every point of a kind."""
