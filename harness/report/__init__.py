"""Reports: what a run or a recording says, as text and as JSON Lines.

Everything here is a function of values to `str` (or of values to values): the faces print.
`run_summary` takes from a run what a report needs and the command that repeats it. `event_lines`
writes one event as one line, `run_report` and `judge_report` are the texts of `run` and `judge`,
`run_timeline` is the text of `show`, and `json_lines` writes the public JSON objects.
"""
