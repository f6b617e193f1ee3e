"""Attacks on the harness itself, as commands that can be run again."""
