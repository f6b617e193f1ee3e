"""`python -m tests.corpus`: the recorded calls of the corpus, put to our judges.

It prints the counts and each difference that is not in `exceptions.tsv`, or stands there for
nothing. The exit status is 1 if there is one, and 3 without recordings, for nothing was asked.
`--calls RULE` prints the calls that differ by a rule and `--dialect NAME` asks one dialect
everywhere, which has no table of exceptions.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.corpus import folder
from tests.corpus.exceptions import unexplained
from tests.corpus.judged_calls import counted, judged
from tests.corpus.recorded_calls import files


def main(arguments: Sequence[str]) -> int:
    """Judge the corpus, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("--calls", metavar="RULE", help="print the calls that differ by RULE")
    parser.add_argument("--dialect", help="ask one dialect, '' for the default one")
    options = parser.parse_args(arguments)
    root = folder()
    if root is None:
        print("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder", file=sys.stderr)
        return 3
    if options.calls:
        for path in files(root):
            for one in judged(path, options.dialect):
                if one.difference and one.rule == options.calls:
                    said = one.found[0].error.message if one.found else one.call.answer[:300]
                    print(f"{one.call.file}: call {one.call.number}: {one.difference}: {said!r}")
        return 0
    counts = counted(files(root), options.dialect)
    print(*counts.lines(), sep="\n")
    if options.dialect is not None:
        for (provider, host, rule), count in sorted(counts.differences.items()):
            print(f"{provider} at {host}: {rule}: {count}")
        return 0
    wrong = unexplained(counts.differences)
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
