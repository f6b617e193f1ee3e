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
    "catalogue": 1,
    "clock": 1,
    "providers": 1,
    "checks": 1,
    "faults": 2,
    "recordings": 2,
    "files": 3,
    "cassettes": 4,
    "stores": 4,
    "agent": 5,
    "targets": 6,
    "transports": 6,
    "runner": 7,
    "sweep": 8,
    "report": 8,
    "configuration": 9,
    "plugins": 9,
    "engines": 9,
    "shrink": 10,
    "fuzz": 11,
    "strategies": 12,
    "contracts": 13,
    "cli": 13,
    "pytest_plugin": 13,
    "__main__": 13,
    "": 14,
}
"""Imports point to a lower floor, or along one floor in one direction. "" is the package's face."""

ONLY: dict[str, frozenset[str]] = {
    "core": frozenset(),
    "catalogue": frozenset({"core"}),
    "clock": frozenset({"core"}),
    "files": frozenset({"core", "catalogue", "faults", "recordings", "providers"}),
    "providers": frozenset({"core"}),
    "checks": frozenset({"core"}),
    "faults": frozenset({"core", "catalogue"}),
    "recordings": frozenset({"core", "providers"}),
    "cassettes": frozenset({"core", "providers", "recordings", "files"}),
    "agent": frozenset({"core", "stores"}),
    "configuration": frozenset({"core"}),
    "engines": frozenset({"core", "plugins"}),
}
"""Rooms that may import fewer rooms than their floor allows."""

PURE: tuple[str, ...] = (
    "core",
    "providers",
    "checks",
    "faults",
    "recordings",
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
        ("core.values.draws", "random"),
        ("recordings.yaml_tags", "yaml"),
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
    "yaml": ("files", "cassettes", "recordings.yaml_tags"),
    "anthropic": ("transports.clients", "transports.loopback_brief"),
    "openai": ("transports.clients", "transports.loopback_brief"),
    "httpx": ("transports",),
    "httpx2": ("transports",),
    "respx": ("transports.mounted",),
    "h11": ("transports",),
    "mcp": ("transports",),
    "mcp_types": ("transports.mcp_server",),
    "anyio": ("clock",),
    "trio": ("clock",),
    "vcr": ("cassettes",),
    "psycopg": ("stores",),
    "hypothesis": ("fuzz", "shrink"),
    "ray": ("engines",),
    "click": ("cli",),
    "rich": ("cli",),
    "pytest": ("pytest_plugin",),
}
"""A third-party package and its home; "" is everywhere. `agent`, a user's code, is exempt."""

EVENT_MAKERS: tuple[str, ...] = ("core.transition", "runner", "recordings")
"""Who may call the constructors of `core.history`: the transition with its parts, the runner, the
readers."""

ENVIRONMENT_READERS: tuple[str, ...] = (
    "runner.supervise",
    "transports.mcp_stdio",
    "cli",
    "pytest_plugin",
)
"""Who may touch the environment: what scrubs it for a program under test, a program that is given
one, and the faces."""

HEAVY: frozenset[str] = _words(
    "msgspec anthropic openai yaml click rich pytest hypothesis vcr httpx httpx2 anyio h11 "
    "asyncio mcp ray"
)
"""What costs too much to be imported before it is used."""

LIGHT_FACES: dict[str, frozenset[str]] = {
    "harness": frozenset(),
    "harness.pytest_plugin": frozenset({"pytest"}),
    "harness.cli": frozenset({"click"}),
}
"""Modules that everybody's start pays for, and the heavy packages that each may load."""

PROCESS_STATE: tuple[str, ...] = ("clock.patched", "core.values.loaded_plugins")
"""Who may say `global`: the one patch of the process that virtual time needs for sync code, and the
plug-ins that the process has loaded."""

FILE_LINES, FUNCTION_LINES = 400, 40
"""The most lines of a file, and of a function without its docstring."""
