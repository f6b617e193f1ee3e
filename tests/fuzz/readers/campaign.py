"""A campaign of mutated files over the readers, and what counts as a failure of one."""

from __future__ import annotations

import logging
import resource
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzz.campaign_limits import Limits, TookTooLong, processor_time
from tests.fuzz.readers.mutations import mutated
from tests.fuzz.readers.readers import READERS, read
from tests.fuzz.readers.seeds import seeds

CPU_S = 5.0
"""How much processor time a file may cost."""

MEMORY_MB = 200
"""How much memory the process may take in all."""

REPORT_EVERY = 10_000
FOLDER_EVERY = 500
_RARELY = {"mcp_body": 10}
"""Readers that cost more are asked once in a given number of rounds."""


def failure(name: str, folder: Path, data: bytes) -> str:
    """What a reader does with a file that none may do; "" when all is well."""
    try:
        with processor_time(CPU_S):
            read(name, folder, data)
    except TookTooLong:
        return f"more than {CPU_S} s of processor time at {_place()}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]} at {_place(error)}"
    return ""


def _place(error: BaseException | None = None) -> str:
    frames = traceback.extract_tb(error.__traceback__) if error else traceback.extract_stack()
    own = [frame for frame in frames if "/harness/" in frame.filename] or list(frames)
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in own[:-4:-1])


def memory_mb() -> float:
    """The most memory that this process has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def campaign(
    seed: int, limits: Limits, out: Path, say: Callable[[str], None], only: str = ""
) -> int:
    """Try files until a limit; return how many failures there are, memory included."""
    logging.disable(logging.CRITICAL)
    names = [only] if only else list(READERS)
    draws, began, cpu = Random(seed), time.monotonic(), time.process_time()
    tried: Counter[str] = Counter()
    found: Counter[str] = Counter()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-readers-"))
    while tried.total() < limits.count and time.monotonic() - began < limits.seconds:
        for name in names:
            if draws.randrange(_RARELY.get(name, 1)):
                continue
            data = _drawn(name, draws)
            tried[name] += 1
            if tried.total() % FOLDER_EVERY == 0:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
            told = failure(name, folder, data)
            if told:
                _keep(f"{name}: {told}", data, found, out, say)
            if tried.total() % REPORT_EVERY == 0:
                say(f"{tried.total()} files, {found.total()} failures, {memory_mb():.0f} MB")
    shutil.rmtree(folder, ignore_errors=True)
    peak_mb = memory_mb()
    say(
        f"seed {seed}: {tried.total()} files, {found.total()} failures of {len(found)} kinds, "
        f"{peak_mb:.0f} MB at most, {time.process_time() - cpu:.0f} s of processor time"
    )
    say(", ".join(f"{name} {number}" for name, number in sorted(tried.items())))
    return found.total() + (peak_mb > MEMORY_MB)


def _drawn(name: str, draws: Random) -> bytes:
    own, others = seeds(name), seeds(draws.choice(list(READERS)))
    return mutated(draws.choice(own), draws.choice(own if draws.random() < 0.8 else others), draws)


def _keep(
    told: str, data: bytes, found: Counter[str], out: Path, say: Callable[[str], None]
) -> None:
    kind = told.partition(": ")[0] + told.rpartition(" at ")[2]
    found[kind] += 1
    if found[kind] == 1:
        path = out / f"failure-{len(found)}"
        path.write_bytes(data)
        say(f"FAILED {told} ({path})")
