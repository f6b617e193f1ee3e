"""A recording of each format becomes a scenario that a correct agent plays to its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.agent import agent as reference
from harness.cli.scenario_import import ImportRequest, ScenarioImport
from harness.core.scenario.scenario import CassetteScript
from harness.files import load_scenarios
from harness.recordings.recognition import formats
from harness.runner import run
from tests.cli.test_import import CASSETTE, LOG
from tests.record_incidents import path_of
from tests.recordings import databases
from tests.recordings.databases import database
from tests.recordings.documents import SAMPLES
from tests.recordings.imports import import_file
from tests.recordings.readers import test_agents_run_state as agents_run_state
from tests.recordings.readers import test_aider as aider
from tests.recordings.readers import test_claude_stream as claude_stream
from tests.recordings.readers import test_codex as codex
from tests.recordings.readers import test_copilot_cli as copilot_cli
from tests.recordings.readers import test_gemini_cli as gemini_cli
from tests.recordings.readers import test_gemini_stream as gemini_stream
from tests.recordings.readers import test_genai_replay as genai_replay
from tests.recordings.readers import test_httprr as httprr
from tests.recordings.readers import test_managed_agents as managed_agents
from tests.recordings.readers import test_opencode as opencode
from tests.recordings.readers import test_openhands as openhands
from tests.recordings.readers import test_otel as otel
from tests.recordings.readers import test_pi as pi
from tests.recordings.readers import test_qwen_code as qwen_code

RECORDINGS: dict[str, tuple[str, bytes]] = {
    **SAMPLES,
    "agents run state": ("agents_run_state", agents_run_state.state(*agents_run_state.RUN)),
    "aider": ("aider", aider.CHAT),
    "claude code": ("claude_code", "\n".join(json.dumps(line) for line in LOG).encode()),
    "codex": ("codex", codex.log(*codex.TURN)),
    "pi": ("pi", pi.log(*pi.TURN)),
    "spans": ("otel", otel.DUMPS["spans"]),
    "vcr": ("vcr", yaml.safe_dump(CASSETTE).encode()),
    "copilot cli": ("copilot_cli", copilot_cli.log(*copilot_cli.TURN)),
    "gemini cli": ("gemini_cli", gemini_cli.session(*gemini_cli.TURN)),
    "gemini stream": ("gemini_stream", gemini_stream.stream(*gemini_stream.RUN)),
    "google-genai": ("genai_replay", genai_replay.WHOLE),
    "httprr": ("httprr", httprr.WHOLE),
    "managed agents": ("managed_agents", managed_agents.lines(*managed_agents.SESSION)),
    "opencode": ("opencode", opencode.session(*opencode.TURN)),
    "openhands": ("openhands", openhands.trajectory(*openhands.TURN)),
    "qwen code": ("qwen_code", qwen_code.log(*qwen_code.TURN)),
    "claude stream": ("claude_stream", claude_stream.stream(*claude_stream.RUN)),
    "history": ("history", path_of("empty-inputs").read_bytes()),
    **{name: (name, database(rows)) for name, (rows, *_) in databases.SAMPLES.items()},
}
"""A recording of each format."""


def _import(file: Path, format: str) -> ScenarioImport:
    made = import_file(ImportRequest(file=file, name="it", out=file.parent / "made"))
    assert made.format == format
    return made


def _passes(made: ScenarioImport) -> None:
    (scenario,) = load_scenarios(made.scenario)
    assert scenario.inbox
    assert not isinstance(scenario.script, CassetteScript)
    assert scenario.script
    verdict = run(scenario, reference).verdict
    assert (verdict.verdict, verdict.findings) == ("pass", ())


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_becomes_a_scenario(name: str, tmp_path: Path) -> None:
    format, data = RECORDINGS[name]
    (tmp_path / "recording").write_bytes(data)
    _passes(_import(tmp_path / "recording", format))


def test_every_format_has_a_recording_here() -> None:
    assert {format for format, _ in RECORDINGS.values()} == formats().keys()
