"""Sweeps: every fault at every call of some scenarios, and a certificate of what was covered."""
