"""`make mutation`: play a seeded sample of code mutants, and print the score and the survivors.

Results stay in `--folder`, so a second call goes on where the first one stopped. When a room or a
measured test has changed, `--anew` forgets them. `--mutant N` shows one mutant; with `--tests` it
says how these tests, or files of tests, end with it. The exit status is 0: a survivor is a question
to a person, not an error.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutation import reach
from tests.mutation.places import Places
from tests.mutation.sample import ROOMS, CodeMutant, drawn, matters
from tests.mutation.table import NO_TEST, SURVIVED, table

ROOT = reach.ROOT


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, draw, play and print."""
    # The processes of the tests import this file too; they need no cosmic-ray.
    from tests.mutation import library, run

    options = _options(arguments)
    folder = options.folder.resolve()
    if options.mutant is not None:
        return run.show(library.Session(folder / "session.sqlite"), options.mutant, options.tests)
    begin(folder, options.anew)
    reach.measure(folder, options.workers)
    session = library.Session(folder / "session.sqlite")
    known = len(session.mutants)
    if known < options.count:
        for number, mutant in itertools.islice(enumerate(draw(options.seed)), known, options.count):
            session.add(number, mutant)
    run.play(session, folder, options.count, options.workers, options.minutes)
    results, mutants = session.results, session.mutants
    for number, result in sorted(results.items()):
        if result.word in (SURVIVED, NO_TEST):
            print(f"\n{run.line(number, mutants[number], result)}\n{session.patches[number]}")
    print(f"\nseed {options.seed}, cosmic-ray {library.VERSION}, {len(results)} mutants\n")
    print("\n".join(table((mutants[n].room, result.word) for n, result in results.items())))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many mutants are played")
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=45, help="no mutant begins after this")
    parser.add_argument("--folder", type=Path, default=ROOT / ".harness/mutation")
    parser.add_argument("--anew", action="store_true", help="forget the results of other code")
    parser.add_argument("--mutant", type=int, metavar="N", help="show the N-th mutant of the draw")
    parser.add_argument("--tests", nargs="*", default=[], help="play these on that mutant")
    return parser.parse_args(arguments)


def begin(folder: Path, anew: bool) -> None:
    """Make the folder; its results are of one state of the rooms and of the measured tests."""
    mark, digest = folder / "digest.txt", hashlib.sha256()
    for path in _sources():
        digest.update(path.read_bytes())
    if mark.exists() and mark.read_text() != digest.hexdigest():
        if not anew:
            raise SystemExit(f"{folder} has results of other code: --anew forgets them")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    mark.write_text(digest.hexdigest())


def _sources() -> Iterator[Path]:
    for name in (*(f"harness/{room}" for room in ROOMS), *(f"tests/{n}" for n in reach.MEASURED)):
        path = ROOT / name
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def draw(seed: int) -> Iterator[CodeMutant]:
    """The mutants in the order of the draw; those that Python refuses are skipped."""
    from tests.mutation import library

    files = [path for room in ROOMS for path in sorted((ROOT / "harness" / room).rglob("*.py"))]
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in files}
    found = []
    for file, text in texts.items():
        places = Places(text)
        found += [m for m in library.mutants_of(file, text) if matters(m, places)]
    lines = dict.fromkeys(ROOMS, 0)
    for file, text in texts.items():
        lines[file.split("/")[1]] += text.count("\n")
    for mutant in drawn(found, lines, seed):
        if library.mutated(texts[mutant.file], mutant) is not None:
            yield mutant


if __name__ == "__main__":
    sys.exit(main())
