"""Agents that are known by name."""
