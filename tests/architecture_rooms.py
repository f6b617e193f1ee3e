"""The rooms of the package: one row a room, from which the architecture test and the docs are made.

A floor is a number: imports point to a lower floor, or along one floor in one direction.
`python -m tests.architecture_rooms` writes the rows into docs/architecture.md.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
_BLOCK = re.compile(r"(<!-- rooms -->\n).*?(<!-- /rooms -->)", re.DOTALL)


@dataclass(frozen=True)
class Room:
    """A folder or file directly below `harness/`.

    `only` narrows what it may import, "" leaves it all lower floors. `pure`: it does no IO and
    reads neither time nor randomness.
    """

    name: str
    floor: int
    holds: str
    only: str | None = None
    pure: bool = False


ROOMS: tuple[Room, ...] = (
    Room(
        "lazy_names",
        -1,
        "Imports the public names of a package when they are first used. Every room may import it.",
        "",
    ),
    Room(
        "import_path",
        -1,
        "Where the start folder stands on `sys.path`, and the import of a module that the user "
        "named.",
        "",
    ),
    Room(
        "core",
        0,
        "The transition (one call in, one plan out), the history, the scenario, and the values "
        "that all rooms share. `values` imports nothing of ours, `history` values, `scenario` "
        "both, `transition` all three. It names no provider.",
        "",
        pure=True,
    ),
    Room(
        "parts",
        0,
        "What a file or a plug-in brings: one loader, and one description, for all kinds.",
        "core",
        pure=True,
    ),
    Room(
        "catalogue",
        1,
        "Public incidents and the table of what may go wrong: data files with one loader. The file "
        "is edited without knowing Python.",
        "core",
    ),
    Room(
        "providers",
        1,
        "One folder a provider: a record of all facts about it, its rules, and a codec between its "
        "bytes and our values. `shared` holds what all providers have in common.",
        "core parts",
        pure=True,
    ),
    Room(
        "checks",
        1,
        "One file a family of invariants, with the table of its rules beside it. A check reads a "
        "history and yields findings; `evidence` holds what several checks ask of a history. "
        "`judge` finds and applies them.",
        "core parts providers",
        pure=True,
    ),
    Room(
        "clock",
        1,
        "Virtual time for Python agents: an event loop that jumps, a patched clock for sync code, "
        "and the meter that tells waiting from computing.",
        "core processes",
    ),
    Room(
        "processes",
        1,
        "The processes that the harness owns: their signs of life, and their end with the harness. "
        "What the system tells of processes and threads, and what the machine lacks for a run.",
        "core",
    ),
    Room(
        "faults",
        2,
        "One file a layer or a group of faults. A fault is a function from a moment and a plan to "
        "a plan; faults that differ in constants only are rows of presets.",
        "core catalogue parts",
        pure=True,
    ),
    Room(
        "recordings",
        2,
        "Reads what others recorded: `readers` has one file a format, `importing` makes a scenario "
        "of a recording.",
        "core parts providers",
        pure=True,
    ),
    Room(
        "redaction",
        2,
        "What a secret looks like, and texts, values and bodies without secrets.",
        "core providers",
        pure=True,
    ),
    Room(
        "files",
        3,
        "From a scenario or overlay file to checked values, with file and line in every error.",
        "core catalogue checks faults parts recordings providers redaction stores",
    ),
    Room(
        "cassettes",
        4,
        "Records calls without their secrets, matches requests, and plays them back.",
        "core providers recordings redaction files",
    ),
    Room(
        "stores",
        3,
        "Session stores: readers that tell what an agent keeps, and shims that make a store fail.",
    ),
    Room(
        "agent",
        5,
        "The reference agent, which does everything right: to copy from and to break on purpose. "
        "It uses what any agent may use.",
        "core stores",
    ),
    Room(
        "adapters",
        5,
        "Public: agents of other frameworks as functions of a brief. One file a framework, and a "
        "table by which their objects are known. A framework is imported in its own file alone, "
        "and only for an object of it.",
        "core parts",
    ),
    Room("targets", 6, "What `--target` may name: Python code, a program, a server."),
    Room(
        "transports",
        6,
        "How an agent reaches us: in process, over loopback, mounted into its HTTP library, by "
        "MCP. The recording proxy stands here too.",
    ),
    Room(
        "runner",
        7,
        "Plays one run: prepares it, starts transport and target, simulates (virtual time) or "
        "supervises (real time), and hands the history to the judge.",
    ),
    Room(
        "verdicts",
        8,
        "What a command comes to, as values: the result of a run, a transcript, a finding of a "
        "campaign, a probe, a side of a diff. It knows no medium.",
    ),
    Room(
        "report",
        8,
        "Writes what a command came to. `media` has one file a medium: text, a screen of causes, "
        "JUnit, Markdown, HTML, GitHub, JSON Lines. A report is a handler of typed events. "
        "`exports` has one file a form of other programs.",
    ),
    Room(
        "comparison",
        7,
        "What two histories of one run differ in: the first call, what requests say, the numbers.",
        "core",
        pure=True,
    ),
    Room(
        "configuration",
        9,
        "Reads `[tool.harness]` of the start folder, and finds the profile of a name, strictly.",
        "core files checks parts",
    ),
    Room(
        "schema",
        10,
        "The JSON Schemas of the files that a user writes, with the words of every key and setting "
        "as two tables.",
        "core catalogue checks configuration faults parts providers stores",
    ),
    Room(
        "scratch",
        9,
        "A world apart for probes: a copy of the user's project, what its settings name outside of "
        "the copy, and what changed there.",
        "core files",
    ),
    Room(
        "plugins",
        9,
        "Loads plug-ins: imports the modules that the user names, and refuses what no room knows.",
    ),
    Room(
        "engines",
        9,
        "Runs many tasks: in this process, in local workers, on a Ray cluster.",
        "core import_path parts plugins processes",
    ),
    Room("shrink", 10, "Makes a failing scenario small while its finding stays the same."),
    Room(
        "diagnosis",
        10,
        "Says why a run has a finding: the answer that decided it, by drawn futures; the proof.",
        "core checks verdicts",
    ),
    Room("fuzz", 11, "Draws scenarios from one grammar, in campaigns and for Hypothesis."),
    Room(
        "sweep",
        11,
        "Plays every fault at every call of a scenario, with a certificate.",
    ),
    Room("strategies", 12, "Public: the Hypothesis strategies and state machines."),
    Room(
        "doctor",
        10,
        "Plays short probes of an agent, says what they show, and writes its profile.",
        "core checks files providers redaction",
    ),
    Room(
        "starter",
        10,
        "Finds the agent of a project in the texts of its files, and makes the files of a first "
        "test from templates.",
        "core providers",
        pure=True,
    ),
    Room("contracts", 13, "Public: the laws that plug-ins keep, as tests that a user runs."),
    Room("cli", 13, "The command `harness`: one file a verb."),
    Room("pytest_plugin", 13, "The pytest fixtures and options."),
    Room("__main__", 13, "`python -m harness`."),
    Room("", 14, "The public names of `import harness`."),
)


def page_rows() -> str:
    """The rooms as the page prints them, highest floor first."""
    rows = []
    for room in sorted(ROOMS, key=lambda room: -room.floor):
        pure = " Pure." if room.pure else ""
        name = "`harness/__init__.py`" if not room.name else f"`{room.name}`"
        rows.append(f"**{name}** (floor {room.floor}). {room.holds}{pure}\n")
    return "\n".join(rows)


def updated(page: str) -> str:
    """The page with the rows of today."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{page_rows()}\n{found[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text("utf-8")), "utf-8")
    sys.exit(0)
