"""Reports: what a run or a recording says, as text and as JSON Lines.

Everything here is a function of values to `str` (or of values to values): the faces print. `events`
puts one event into one readable line, `summary` draws from a run what a report needs and no more,
`text` lays it out, `json_lines` writes the contract's objects, `command` says how to repeat a run.
"""
