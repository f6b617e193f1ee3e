"""Incidents: recordings made by other programs, read as values that the checks understand.

`read` is the face: bytes in, transcripts out, with what was refused and why. `counts` counts over
a transcript, `as_history` turns one into a history, so that one set of checks judges live runs and
old recordings alike. Nothing here opens a file.
"""
