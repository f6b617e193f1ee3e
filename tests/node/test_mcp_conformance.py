"""The official MCP conformance suite against our server; mcp_scenarios.tsv says what applies."""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path

import pytest

from harness.core.scenario.scenario import ToolScript, ToolTurn
from harness.core.values.messages import Json
from tests.node.conftest import NodePackages
from tests.transports.world import loopback, transition

TABLE = Path(__file__).with_name("mcp_scenarios.tsv")
LINES = [line for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
ROWS = list(csv.DictReader(LINES, delimiter="\t"))
APPLY = [row["scenario"] for row in ROWS if row["applies"] == "yes"]

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
IMAGE: Json = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PNG},
}
ADDRESS: Json = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
SCHEMA: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


def resource(uri: str, kind: str, text: str) -> Json:
    """A block of MCP's."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


ANSWERS: dict[str, Json] = {
    "test_simple_text": "This is a simple text response for testing.",
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        {"type": "text", "text": "Multiple content types test:"},
        IMAGE,
        resource("test://mixed-content-resource", "application/json", '{"test":"data"}'),
    ],
    "json_schema_2020_12_tool": "done",
}
TOOLS = {
    **{
        name: ToolScript(
            description=f"Answers {name}",
            script=(ToolTurn(ok=answer, times="forever"),),
            **({"input_schema": SCHEMA} if "schema" in name else {}),
        )
        for name, answer in ANSWERS.items()
    },
    "test_error_handling": ToolScript(
        description="Fails",
        script=(ToolTurn(error="This tool intentionally returns an error", times="forever"),),
    ),
}


def suite(packages: NodePackages, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the suite's command."""
    program = packages.folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    return subprocess.run(
        [packages.node, program, *words], capture_output=True, text=True, timeout=120
    )


@pytest.mark.real
def test_the_table_names_every_scenario_of_the_suite(node_packages: NodePackages) -> None:
    listed = suite(node_packages, "list").stdout
    ours, _, _ = listed.partition("Client scenarios")
    assert set(re.findall(r"^  - (\S+)", ours, re.MULTILINE)) == {row["scenario"] for row in ROWS}


def test_what_does_not_apply_has_a_reason() -> None:
    assert all((row["applies"] == "yes") != bool(row["reason"]) for row in ROWS)
    assert len(APPLY) == 11


@pytest.mark.real
@pytest.mark.parametrize("scenario", APPLY)
def test_our_server_conforms(scenario: str, node_packages: NodePackages) -> None:
    with loopback(transition(tools=TOOLS)) as server:
        done = suite(node_packages, "server", "--url", server.urls.mcp, "--scenario", scenario)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"Passed: (\d+)/\1, 0 failed, 0 warnings", done.stdout)
    assert passed is not None, done.stdout
    assert int(passed[1]) >= 1
