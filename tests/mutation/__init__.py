"""Mutation testing: small changes of the product's code, each of which a fast test must notice.

`make mutation` plays a seeded sample of the rooms core, checks, providers and faults. The wrong
agents are something else: they stand in `tests/mutants`, and `make mutants` plays them.

- `places` says which places of a file can matter, and which lines a change touches
- `sample` draws mutants, as many from a room as it has lines
- `library` is what we use of cosmic-ray: its operators and its session file
- `reach` measures under coverage which fast tests run which line
- `playing` runs the tests of one mutant in a copy of the tree
- `table` counts the results and prints them
"""
