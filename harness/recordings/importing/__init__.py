"""Importing: a recording becomes a scenario that can be played.

A recording is first read as a `dialogue`: who said what, what each call gave, where the model
failed. `scenario_document` writes a dialogue down as the keys of a scenario file, with the script
and the faults of `model_script`. `fidelity` keeps account of what a recording lacks and how that is
filled. Nothing here opens a file.
"""
