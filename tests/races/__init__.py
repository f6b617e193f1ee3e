"""Agents with a race that one order of events shows, and careful twins without it."""
