"""Importing: a recording becomes a scenario that can be played. Nothing here opens a file."""
