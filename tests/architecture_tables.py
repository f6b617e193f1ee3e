"""The architecture as tables: which room stands on which floor, what is pure, who owns a package.

A new room, a new third-party package or a new pure module is a new row here; the rules in
`architecture_rules` never name one. Names are dotted and relative to the package (`core.draws`).
A row covers the module of that name and, for a package, all that is in it.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.architecture_rooms import ROOMS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FLOORS: dict[str, int] = {room.name: room.floor for room in ROOMS}
"""Imports point to a lower floor, or along one floor in one direction. "" is the package's face."""

ONLY: dict[str, frozenset[str]] = {
    room.name: _words(room.only) for room in ROOMS if room.only is not None
}
"""Rooms that may import fewer rooms than their floor allows."""

EVERYWHERE: tuple[str, ...] = ("lazy_names",)
"""What every room may import."""

SUB_FLOORS: dict[str, dict[str, int]] = {
    "core": {"values": 0, "history": 1, "scenario": 2, "transition": 3},
    "providers": {"shared": 0, "*": 1},
    "checks": {"evidence": 0, "*": 1},
    "recordings": {"*": 0, "readers": 1, "recognition": 2, "importing": 3},
    "agent": {"conversation": 0, "guards": 0, "models": 1, "sessions": 2, "*": 3},
}
"""The floors of folders and files within a room; `*` is the floor of those that have no row."""


class Siblings(NamedTuple):
    """Parts of a place that do not import each other.

    All may import what is `common`; what stands `above` may import all, as the place's face may.
    """

    common: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset()


SIBLINGS: dict[str, Siblings] = {
    "providers": Siblings(common=_words("shared")),
    "recordings.readers": Siblings(),
    "stores.formats": Siblings(),
    "adapters": Siblings(common=_words("shared")),
    "checks": Siblings(common=_words("evidence"), above=_words("judge")),
    "faults": Siblings(common=_words("shared")),
}
"""Places whose parts are siblings: two providers, two readers, two layers of faults, two checks."""

NAMES_AGAIN: tuple[str, ...] = (
    *("cli", "providers", "faults", "recordings.readers", "stores.formats"),
)
"""Places in which a file may have the name of a file elsewhere."""

PROVIDER_WORDS = _words("anthropic openai gemini bedrock vertex claude gpt")
"""The words by which a provider is known; `core` says none of them."""

PROVIDER_DEFAULTS: frozenset[tuple[str, str]] = frozenset({("core.scenario.scenario", "anthropic")})
"""The default of the scenario's key `wire`."""

SDK_METHODS: tuple[str, ...] = ("core.values.brief",)
"""Where methods are named after SDKs, for a user asks there for the client of his own."""

PURE: tuple[str, ...] = (
    *(room.name for room in ROOMS if room.pure),
    "agent.context_overflow",
    "agent.conversation",
    "agent.guards",
    "agent.models.anthropic_blocks",
    "agent.models.failures",
    "agent.models.model_call",
    "agent.sessions.jsonl_conversation",
    "agent.sessions.turn_outcome",
    "agent.turn_policy",
)
"""No IO, time, randomness or logging: functions of the bytes and values that are handed in."""

PURE_STDLIB: frozenset[str] = _words(
    "__future__ abc base64 binascii bisect codecs collections contextlib copy dataclasses datetime "
    "decimal difflib enum errno fnmatch fractions functools gzip hashlib heapq html http itertools "
    "json ipaddress keyword math operator re statistics string struct textwrap types typing "
    "unicodedata urllib zlib"
)
"""What a pure room may import of the standard library: an allowlist, so that nothing slips by."""

PURE_STDLIB_PARTS: frozenset[str] = frozenset(
    {"inspect.cleandoc", "pathlib.PurePath", "pathlib.PurePosixPath"}
)
"""Single names that are pure in a module that is not."""

PURE_STDLIB_REFUSED: frozenset[str] = frozenset(
    {"http.client", "http.cookiejar", "http.server", "urllib.request"}
)
"""Parts of allowed packages that do IO."""

PURE_EXCEPTIONS: frozenset[tuple[str, str]] = frozenset(
    {
        ("core.values.draws", "random"),
        ("core.values.patterns", "regex"),
        ("core.values.table_file", "pkgutil"),
        ("providers.shared.rules", "pkgutil"),
        ("recordings", "importlib"),
        ("recordings.yaml_documents", "yaml"),
        ("recordings.zip_archive", "io"),
        ("recordings.zip_archive", "zipfile"),
        ("recordings.zip_archive", "zstandard"),
        ("starter.endpoints", "ast"),
        ("starter.python_sources", "ast"),
        ("starter.starter_files", "pkgutil"),
        ("starter.starter_files", "shlex"),
        ("parts.loading", "importlib"),
        ("parts.loading", "pkgutil"),
    }
)
"""The one home of randomness (`random.Random`, keyed by seed, fault and call), the loaders of the
packages' own tables and templates, the parsers that recordings and the starter need, which are
handed text and bytes, and the walk that finds parts in their folders."""

IMPURE_CALLS: frozenset[str] = _words(
    "open print input exec eval compile breakpoint hash __import__"
)
"""Builtins that do IO, run text as code, or (hash) differ from process to process."""

IMPURE_METHODS: frozenset[str] = frozenset({"now", "utcnow", "today"})
"""Methods of `datetime` and `date` that read the clock."""

PACKAGES: dict[str, tuple[str, ...]] = {
    "msgspec": ("",),
    "jsonschema_rs": ("runner.tool_offers",),
    "regex": ("core.values.patterns",),
    "yaml": ("files", "cassettes", "recordings.yaml_documents"),
    "anthropic": (
        "transports.sdk_clients",
        "adapters.message_runner",
        "adapters.adk_runner",
        "adapters.strands_session",
    ),
    "openai": ("transports.sdk_clients", "adapters.openai_runner", "adapters.strands_session"),
    "httpx": ("transports",),
    "httpx2": ("transports",),
    "respx": ("transports.mount",),
    "h11": ("transports",),
    "mcp": ("transports",),
    "mcp_types": ("transports.mcp_tools",),
    "gateway": ("targets.known.hermes_plugin",),
    "hermes_state": ("targets.known.hermes_seed",),
    "pydantic_ai": ("adapters.pydantic_agent",),
    "pydantic_core": ("adapters.pydantic_agent",),
    "agents": ("adapters.openai_runner",),
    "google": ("adapters.adk_runner",),
    "agent_framework": ("adapters.framework_session",),
    "langgraph": ("adapters.graph_thread", "adapters.shared.graph_tools"),
    "langchain_core": ("adapters.graph_thread", "adapters.shared.graph_tools"),
    "strands": ("adapters.strands_session",),
    "claude_agent_sdk": ("adapters.claude_sessions",),
    "agno": ("adapters.agno_database",),
    "llama_index": ("adapters.function_memory",),
    "smolagents": ("adapters.tool_calling_agent",),
    "anyio": ("clock",),
    "trio": ("clock",),
    "time_machine": ("clock.wall_dates",),
    "vcr": ("cassettes", "pytest_plugin"),
    "zstandard": ("recordings.zip_archive",),
    "psycopg": ("stores",),
    "hypothesis": ("contracts", "fuzz", "strategies"),
    "ray": ("engines",),
    "click": ("cli",),
    "jinja2": ("report",),
    "pytest": ("pytest_plugin",),
}
"""A third-party package and its home; "" is everywhere. `agent`, a user's code, is exempt."""

EVENT_MAKERS: tuple[str, ...] = (
    "core.transition",
    "runner",
    "recordings",
    "fuzz.machines",
)
"""Who may call the constructors of `core.history`: the transition with its parts, the runner, the
readers, and the machines that play a session step by step."""

ENVIRONMENT_READERS: tuple[str, ...] = (
    "engines.local",
    "files.trusted_folders",
    "import_path",
    "runner.fake_model",
    "runner.supervise",
    "scratch.scratch_world",
    "targets.acp_client",
    "targets.front",
    "targets.known.driver",
    "targets.known.hermes_gateway",
    "targets.known.hermes_plugin",
    "targets.known.hermes_signal",
    "targets.marks",
    "targets.process_state",
    "transports.mcp_stdio",
    "transports.sdk_clients",
    "cli",
    "pytest_plugin",
)
"""Who may touch the environment: what marks the workers in it, what scrubs it for a program under
test, what puts it back after a run, a program that is given one, a fake model that a test's own
clients find, the SDKs, whose clients need a key to be built, and the faces. Also the world of a
probe, the start of a worker, the place of the user's own settings, and the file for a program's
marks."""

HEAVY: frozenset[str] = _words(
    "msgspec anthropic openai yaml click pytest hypothesis vcr httpx httpx2 anyio h11 "
    "asyncio mcp ray jinja2"
)
"""What costs too much to be imported before it is used."""

LIGHT_FACES: dict[str, frozenset[str]] = {
    "harness": frozenset(),
    "harness.pytest_plugin": frozenset({"pytest"}),
    "harness.cli": frozenset({"click"}),
}
"""Modules that everybody's start pays for, and the heavy packages that each may load."""

LISTENERS: tuple[str, ...] = (
    "transports.http_server",
    "targets.front",
    "targets.known.driver",
    "targets.known.hermes_gateway",
    "targets.known.hermes_signal",
)
"""Who may open a listening socket: the server whose connections are all checked, the relay to it
out of a network of loopback alone, who asks for a free port there, and the daemon of a messenger
in a program of its own."""

LISTENING: frozenset[str] = _words(
    "create_server start_server create_unix_server start_unix_server listen bind serve_forever "
    "HTTPServer ThreadingHTTPServer TCPServer ThreadingTCPServer make_server"
)
"""The calls that open one, by their last name."""

PROCESS_STATE: tuple[str, ...] = (
    "clock.virtual_clock",
    "parts.loading",
    "targets.marks",
    "targets.process_exits",
)
"""Who may say `global`: the one patch of the process that virtual time needs for sync code, the
plug-ins that the process has loaded, and the run whose target may not end the process and makes
marks."""

FILE_LINES, FUNCTION_LINES = 400, 40
"""The most lines of a file, and of a function without its docstring."""

WHOLE_AGENT_LINES = 500
"""The most lines of a file in examples/agents, blank ones apart: one file is a whole agent."""
