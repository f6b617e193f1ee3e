"""A process that makes model calls through our doors when it is told to: one side of a comparison.

It reads a line `PLACE MODE CALLS` and answers with the seconds of a call. The measures of two
commits each have one, so that the same loop asks both in turn.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.backends import BACKENDS, Round
from bench.peers import round_s


def main() -> None:
    """Answer each line of standard input with a number."""
    with ExitStack() as opened:
        rounds: dict[str, Round] = {}
        for line in sys.stdin:
            cell, calls = line.split()
            if cell not in rounds:
                rounds[cell] = _opened(cell, opened)
            print(round_s(rounds[cell], int(calls)), flush=True)


def _opened(cell: str, opened: ExitStack) -> Round:
    place, _, mode = cell.partition("/")
    backend = next(b for b in BACKENDS if b.is_ours and b.place.endswith(place))
    folder = opened.enter_context(tempfile.TemporaryDirectory())
    return opened.enter_context(backend.opened(mode == "streamed", Path(folder)))


if __name__ == "__main__":
    main()
