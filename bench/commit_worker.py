"""A process that makes model calls through our doors when it is told to: one side of a comparison.

It reads a line `PLACE MODE CALLS` and answers with the seconds of a call. The measures of two
commits each have one, so that the same loop asks both in turn.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.backends import BACKENDS, Round
from bench.model_calls import conversation


def main() -> None:
    """Answer each line of standard input with a number."""
    with ExitStack() as opened:
        rounds: dict[str, Round] = {}
        for line in sys.stdin:
            cell, calls = line.split()
            if cell not in rounds:
                rounds[cell] = _opened(cell, opened)
            print(_seconds(rounds[cell], int(calls)), flush=True)


def _opened(cell: str, opened: ExitStack) -> Round:
    place, _, mode = cell.partition("/")
    backend = next(b for b in BACKENDS if b.is_ours and b.place.endswith(place))
    folder = opened.enter_context(tempfile.TemporaryDirectory())
    return opened.enter_context(backend.opened(mode == "streamed", Path(folder)))


def _seconds(once: Round, calls: int) -> float:
    with once() as call:
        began_s = time.perf_counter()
        for number in range(calls):
            call(conversation(1, number))
        return (time.perf_counter() - began_s) / calls


if __name__ == "__main__":
    main()
