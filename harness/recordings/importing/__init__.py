"""Importing: an incident that was recorded becomes a scenario that can be played.

A recording is first told as a `story` (who said what, what each call gave, where the model failed),
by `told` for a transcript and by `retold` for a history of ours. `scenario` writes a story down as
the keys of a scenario file: `turns` makes the script, `answers` the tools, `troubles` the faults.
What a recording lacks is filled, and `fidelity` keeps account of it. Nothing here opens a file.
"""
