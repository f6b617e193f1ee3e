"""Links between entries: each names the one before it, and nobody has checked that they make sense.

A log that branches is a tree of such links. A path is walked from its end to a root, which is an
entry that names none, or one that is not there; links that lead round in a circle end where they
come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def path_to(last: str, parents: Mapping[str, str]) -> list[str]:
    """The entries from a root to `last`, both included."""
    path: dict[str, None] = {}
    while last in parents and last not in path:
        path[last] = None
        last = parents[last]
    return list(path)[::-1]


def in_circles(parents: Mapping[str, str]) -> Iterator[str]:
    """One entry of each circle, in the order of the entries; every link is followed once."""
    walked: set[str] = set()
    for entry in parents:
        here: set[str] = set()
        while entry in parents and entry not in walked:
            walked.add(entry)
            here.add(entry)
            entry = parents[entry]
        if entry in here:
            yield entry
