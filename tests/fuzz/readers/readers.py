"""The readers under fuzz: each takes the bytes of a file, and refuses them with an InputError."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from harness import providers
from harness.cassettes.cassette_file import load_cassette
from harness.checks.judge import judge
from harness.cli.judge_task import JudgeTask, judge_file
from harness.cli.scenario_import import ImportRequest
from harness.cli.selection import scenarios_of_cassette
from harness.clock import RealClock
from harness.configuration import load_configuration
from harness.core.history.history import History
from harness.core.scenario.scenario import InboxItem, Scenario
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError
from harness.files import load_scenarios
from harness.files.profile_file import load_profile
from harness.files.scenario_file import load_overlay, with_overlay
from harness.providers.shared.event_stream import CONTENT_TYPE
from harness.report.run_timeline import timeline
from harness.runner.run_folder import read_history, read_verdict
from harness.runner.session_seed import seed_messages
from harness.transports.dispatcher import Dispatcher
from harness.transports.http_connection import Request
from harness.transports.seam_endpoints import Endpoints
from tests.recordings.imports import import_file
from tests.transports.every_server import MCP_HEADERS, TOOLS
from tests.transports.world import HELLO

Reader = Callable[[Path, bytes], object]
"""`(folder, bytes)`: raises InputError for bytes that cannot be used, and nothing else."""

DEFECTS = ("the reader failed: ",)
"""How a refusal of `judge` begins that is a mistake of ours."""


class ReaderFailed(Exception):
    """`judge` told a failure of ours as a file's line."""


def _file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def scenario(folder: Path, data: bytes) -> None:
    """A scenario file, with its session."""
    for one in load_scenarios(_file(folder, "fuzzed.yaml", data)):
        seed_messages(one)


def overlay(folder: Path, data: bytes) -> None:
    """An overlay of faults."""
    faults = load_overlay(_file(folder, "overlay.yaml", data))
    plain = _file(folder, "s.yaml", b"{name: s, inbox: hi, script: [{say: hi}]}")
    with_overlay(load_scenarios(plain)[0], faults, "overlay.yaml")


def profile_yaml(folder: Path, data: bytes) -> None:
    """A profile in YAML."""
    load_profile(_file(folder, "profile.yaml", data))


def profile_toml(folder: Path, data: bytes) -> None:
    """A profile in TOML."""
    load_profile(_file(folder, "profile.toml", data))


def configuration(folder: Path, data: bytes) -> None:
    """The configuration of a folder."""
    _file(folder, "harness.toml", data)
    load_configuration(folder).chosen_profile("", folder)


def cassette(folder: Path, data: bytes) -> None:
    """A cassette: played."""
    path = _file(folder, "cassette.yaml", data)
    list(load_cassette(path).interactions)
    list(scenarios_of_cassette(path, path))


def recording(folder: Path, data: bytes) -> None:
    """A recording of any format: judged, and imported."""
    path = _file(folder, "recording", data)
    judged = judge_file(JudgeTask(path=str(path)))
    failed = [one.what for one in judged.refusals if one.what.startswith(DEFECTS)]
    if failed:
        raise ReaderFailed(*failed)
    msgspec.json.encode(judged)
    import_file(ImportRequest(file=path, name="made", out=folder / "out", force=True))


def history(folder: Path, data: bytes) -> None:
    """A history: shown, judged and imported."""
    path = _file(folder, "history.jsonl", data)
    found = read_history(path)
    timeline(found, read_verdict(path) or judge(found), 100)
    recording(folder, data)


def _endpoints(wire: str) -> Endpoints:
    kept = Scenario(name="fuzz", wire=wire, tools=TOOLS, inbox=(InboxItem(text="hi"),))
    script = TurnScript((HELLO,), Draws(0))
    made = Transition(kept, providers.by_name(wire), script, History(), faults=[])
    made.history.started(run="fuzz", scenario="fuzz", wire=wire)
    return Endpoints(Dispatcher(made, RealClock()))


def _post(server: Endpoints, path: str, body: bytes, headers: dict[str, str]) -> None:
    plan = server.plan(Request("POST", path, headers, body, False, False), lambda s: None)
    assert plan, "each body gets an answer"


def model_body(folder: Path, data: bytes) -> None:
    """A body that is posted to the model, on every wire, and its answer in every form."""
    for record in providers.records():
        server = _endpoints(record.name)
        hosted = {row.host: row.path for row in record.addresses if row.live and row.host}
        for path in (providers.by_name(record.name).paths()[0], *hosted.values()):
            _post(server, re.sub(r"\{\w+\}", "x", path), data, {})
        judge(server.dispatcher.transition.history)
        for kind in ("application/json", "text/event-stream", CONTENT_TYPE):
            providers.by_name(record.name).parse(data, kind)


def seam_body(folder: Path, data: bytes) -> None:
    """A body that is posted to a tool, and to the outbox."""
    server = _endpoints("anthropic")
    for path in ("/harness/tools/say", "/harness/outbox"):
        _post(server, path, data, {})
    judge(server.dispatcher.transition.history)


def mcp_body(folder: Path, data: bytes) -> None:
    """A body that is posted to the tools by MCP."""
    _post(_endpoints("anthropic"), "/harness/mcp", data, MCP_HEADERS)


READERS: dict[str, Reader] = {
    "scenario": scenario, "overlay": overlay, "profile_yaml": profile_yaml,
    "profile_toml": profile_toml, "configuration": configuration, "cassette": cassette,
    "recording": recording, "history": history, "model_body": model_body,
    "seam_body": seam_body, "mcp_body": mcp_body,
}  # fmt: skip


def read(name: str, folder: Path, data: bytes) -> str:
    """What a reader says: "" or the words of its refusal. Raises what is not a refusal."""
    try:
        READERS[name](folder, data)
    except InputError as error:
        return str(error)
    return ""
