"""A campaign of hostile cases over the writers, what counts as a failure, and how time grows."""

from __future__ import annotations

import logging
import shutil
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from types import FrameType

from tests.fuzz.campaign_limits import Limits, TookTooLong, processor_time
from tests.fuzz.writers.commands import COMMANDS, play
from tests.fuzz.writers.hostile_values import Case, drawn
from tests.fuzz.writers.speakers import history_of, run_of
from tests.fuzz.writers.writers import WRITERS, Said

CPU_S = 20.0
"""How much processor time one writer may take for a case; commands may take it four times."""

RUN_EVERY, COMMAND_EVERY = 12, 400
"""How often a case is said by an agent in a real run, and in whole commands, in rounds."""

REPORT_EVERY = 10_000
REFUSED = (TypeError, RecursionError)
"""What a history says of a value that no transport takes: those errors reach the agent."""

ONLY_IN_RUNS = ("cycles", "keys", "bytes", "objects")
"""The classes that are no JSON, so that only an agent in Python can say them."""


def failure(work: Callable[[], object], cpu_s: float = CPU_S) -> str:
    """What a writer does that none may do; "" when all is well."""
    try:
        with processor_time(cpu_s):
            work()
    except TookTooLong:
        return f"more than {cpu_s} s of processor time"
    except BaseException as error:
        return f"{type(error).__name__}: {_words(error)} at {_place(error)}"
    return ""


def _words(error: BaseException) -> str:
    try:
        return repr(str.__str__(str(error))[:300])
    except BaseException:
        return "(no text)"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames[:-5:-1])


def tries(case: Case, draws: Random, number: int, folder: Path) -> Iterator[tuple[str, str]]:
    """Say a case to every writer: the writer's name, and what it did wrong."""
    said: Said | None = None
    is_run = number % RUN_EVERY == 0 or case.kind in ONLY_IN_RUNS

    def say() -> None:
        nonlocal said
        if is_run:
            played = run_of(case, draws, out=folder, keep=True)
            said = Said(case, played.history, played.verdict, number)
            return
        with suppress(*REFUSED):
            said = Said(case, *history_of(case, draws), number)

    yield "runs" if is_run else "histories", failure(say)
    for name, write in WRITERS.items() if said else ():
        yield name, failure(lambda write=write: write(said, folder))  # type: ignore[misc]
    if number % COMMAND_EVERY == 0:
        name = draws.choice(tuple(COMMANDS))
        place = folder / f"command-{number}"
        place.mkdir()
        yield f"harness {name}", failure(lambda: play(name, f"{draws.random()}", place), 4 * CPU_S)
        shutil.rmtree(place, ignore_errors=True)


def campaign(seed: int, limits: Limits, out: Path, say: Callable[[str], None]) -> int:
    """Try cases until a limit; return how many failures there are."""
    logging.disable(logging.CRITICAL)
    former = signal.signal(signal.SIGINT, _interrupted)  # as in a command: an agent raises it, too
    draws, began, cpu = Random(seed), time.monotonic(), time.process_time()
    written, kinds, found = Counter[str](), Counter[str](), Counter[str]()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-writers-"))
    number = 0
    try:
        while written.total() < limits.count and time.monotonic() - began < limits.seconds:
            number += 1
            case, before = drawn(draws), written.total()
            for name, told in tries(case, draws, number, folder):
                written[name] += 1
                kinds[case.kind] += 1
                if told:
                    _keep(f"{name}, {case.kind}, round {number}: {told}", case, found, out, say)
            if before // REPORT_EVERY != written.total() // REPORT_EVERY:
                say(f"{written.total()} cases, {found.total()} failures")
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
    finally:
        signal.signal(signal.SIGINT, former)
        shutil.rmtree(folder, ignore_errors=True)
    say(
        f"seed {seed}: {written.total()} cases, {found.total()} failures of {len(found)} kinds, "
        f"{time.process_time() - cpu:.0f} s of processor time"
    )
    say("by class: " + _shares(kinds))
    say("by writer: " + _shares(written))
    return found.total()


def _interrupted(number: int, frame: FrameType | None) -> None:
    raise SystemExit(130)


def _shares(counted: Counter[str]) -> str:
    whole = counted.total() or 1
    return ", ".join(f"{name} {n} ({100 * n / whole:.1f} %)" for name, n in counted.most_common())


def _keep(
    told: str, case: Case, found: Counter[str], out: Path, say: Callable[[str], None]
) -> None:
    kind = told.split(",", 2)[0] + told.rpartition(" at ")[2]
    found[kind] += 1
    if found[kind] == 1:
        path = out / f"failure-{len(found)}"
        path.write_bytes(case.text.encode("utf-8", "surrogatepass"))
        say(f"FAILED {told} ({path})".encode("ascii", "backslashreplace").decode())
