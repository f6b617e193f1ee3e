"""The stored parts of a session: the outcome of a turn, its rows, and transcripts in JSONL.

The transcripts have the layout of Claude Code. Only `session_archive` touches a disk.
"""
