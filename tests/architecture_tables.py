"""The architecture as tables: which room stands on which floor, what is pure, who owns a package.

A new room, a new third-party package or a new pure module is a new row here; the rules in
`architecture_rules` never name one. Names are dotted and relative to the package (`core.draws`).
A row covers the module of that name and, for a package, all that is in it.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FLOORS: dict[str, int] = {
    "core": 0,
    "clock": 1,
    "load": 1,
    "wires": 1,
    "checks": 1,
    "faults": 1,
    "incidents": 2,
    "cassettes": 2,
    "stores": 2,
    "agent": 3,
    "targets": 4,
    "doors": 4,
    "contracts": 5,
    "runner": 6,
    "report": 7,
    "engines": 8,
    "campaign": 9,
    "cli": 10,
    "plugin": 10,
    "__main__": 10,
    "": 11,
}
"""Imports point to a lower floor, or along one floor in one direction. "" is the package's face."""

ONLY: dict[str, frozenset[str]] = {
    "core": frozenset(),
    "clock": frozenset({"core"}),
    "load": frozenset({"core", "faults", "incidents", "wires"}),
    "wires": frozenset({"core"}),
    "checks": frozenset({"core"}),
    "faults": frozenset({"core"}),
    "incidents": frozenset({"core", "wires"}),
    "cassettes": frozenset({"core", "wires", "incidents", "load"}),
    "agent": frozenset({"core", "stores"}),
    "engines": frozenset({"core"}),
}
"""Rooms that may import fewer rooms than their floor allows."""

PURE: tuple[str, ...] = (
    "core",
    "wires",
    "checks",
    "faults",
    "incidents",
    "agent.blocks",
    "agent.damage",
    "agent.environment.settings",
    "agent.environment.spec",
    "agent.failures",
    "agent.guards",
    "agent.outcome",
    "agent.policy",
    "agent.projection",
    "agent.text",
    "agent.transcripts.chain",
    "agent.transcripts.compactions",
    "agent.transcripts.entries",
    "agent.transcripts.strip",
    "agent.transcripts.watermark",
    "agent.window",
)
"""No IO, time, randomness or logging: functions of the bytes and values that are handed in."""

PURE_STDLIB: frozenset[str] = _words(
    "__future__ abc base64 binascii bisect codecs collections contextlib copy dataclasses datetime "
    "decimal difflib enum errno fractions functools gzip hashlib heapq html http itertools json "
    "keyword math operator re statistics string struct textwrap types typing unicodedata urllib "
    "zlib"
)
"""What a pure room may import of the standard library: an allowlist, so that nothing slips by."""

PURE_STDLIB_PARTS: frozenset[str] = frozenset({"pathlib.PurePath", "pathlib.PurePosixPath"})
"""Single names that are pure in a module that is not."""

PURE_STDLIB_REFUSED: frozenset[str] = frozenset(
    {"http.client", "http.cookiejar", "http.server", "urllib.request"}
)
"""Parts of allowed packages that do IO."""

PURE_EXCEPTIONS: frozenset[tuple[str, str]] = frozenset(
    {
        ("core.draws", "random"),
        ("incidents.yaml_tags", "yaml"),
        ("faults", "importlib"),
        ("faults", "pkgutil"),
    }
)
"""The one home of randomness (`random.Random`, keyed by seed, fault and call), the parser that
recordings need, which is handed text, and the walk that finds the faults in their folder."""

IMPURE_CALLS: frozenset[str] = _words(
    "open print input exec eval compile breakpoint hash __import__"
)
"""Builtins that do IO, run text as code, or (hash) differ from process to process."""

IMPURE_METHODS: frozenset[str] = frozenset({"now", "utcnow", "today"})
"""Methods of `datetime` and `date` that read the clock."""

PACKAGES: dict[str, tuple[str, ...]] = {
    "msgspec": ("",),
    "yaml": ("load", "cassettes", "incidents.yaml_tags"),
    "anthropic": ("doors.clients", "doors.loopback_brief"),
    "openai": ("doors.clients", "doors.loopback_brief"),
    "httpx": ("doors",),
    "httpx2": ("doors",),
    "respx": ("doors.mounted",),
    "h11": ("doors",),
    "mcp": ("doors",),
    "mcp_types": ("doors.mcp_server",),
    "anyio": ("clock",),
    "trio": ("clock",),
    "vcr": ("cassettes",),
    "psycopg": ("stores",),
    "jinja2": ("report",),
    "hypothesis": ("campaign",),
    "ray": ("engines",),
    "click": ("cli",),
    "rich": ("cli",),
    "pytest": ("plugin",),
}
"""A third-party package and its home; "" is everywhere. `agent`, a user's code, is exempt."""

EVENT_MAKERS: tuple[str, ...] = ("core.transition", "core.seams", "runner", "incidents")
"""Who may call the constructors of `core.history`: the transition with its parts, the runner, the
readers."""

ENVIRONMENT_READERS: tuple[str, ...] = ("runner.supervise", "doors.mcp_stdio", "cli", "plugin")
"""Who may touch the environment: what scrubs it for a program under test, a program that is given
one, and the faces."""

HEAVY: frozenset[str] = _words(
    "msgspec anthropic openai yaml click rich pytest hypothesis jinja2 vcr httpx httpx2 anyio h11 "
    "asyncio mcp ray"
)
"""What costs too much to be imported before it is used."""

LIGHT_FACES: dict[str, frozenset[str]] = {
    "harness": frozenset(),
    "harness.plugin": frozenset({"pytest"}),
    "harness.cli": frozenset({"click"}),
}
"""Modules that everybody's start pays for, and the heavy packages that each may load."""

PROCESS_STATE: tuple[str, ...] = ("clock.patched",)
"""Who may say `global`: the one patch of the process that virtual time needs for sync code."""

FILE_LINES, FUNCTION_LINES = 250, 40
"""The most lines of a file, and of a function without its docstring."""
