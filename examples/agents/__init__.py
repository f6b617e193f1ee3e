"""Agents to copy from: careful ones, each in one file."""
