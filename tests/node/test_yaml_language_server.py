"""The schema in an editor: completion, hover texts and diagnostics of yaml-language-server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.core.scenario.scenario import FaultSpec
from harness.faults import faults
from harness.files.scenario_file import has_script
from harness.schema import schema_of
from tests.documents import ROOT
from tests.node.conftest import NodePackages
from tests.schema.language_server import LanguageServer, language_server

pytestmark = pytest.mark.real

HEAD = "name: draft\nscript: [{say: hi}]\n"


@pytest.fixture(scope="module")
def server(
    node_packages: NodePackages, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LanguageServer]:
    """A server that has the schema of scenarios."""
    schema = tmp_path_factory.mktemp("schema") / "scenario.schema.json"
    schema.write_text(json.dumps(schema_of("scenario")), "utf-8")
    script = node_packages.folder / "node_modules/yaml-language-server/bin/yaml-language-server"
    node = shutil.which("node") or str(node_packages.node)
    with language_server([node, str(script)], schema) as found:
        yield found


def _labels(server: LanguageServer, text: str) -> set[str]:
    return {str(item["label"]) for item in server.completions(HEAD + text)}


def test_keys_are_offered_with_their_words(server: LanguageServer) -> None:
    found = {item["label"]: item for item in server.completions(f"{HEAD}|\n")}
    assert {"faults", "expect", "limits", "variants"} <= set(found)
    assert "name" not in found, "it stands there already"
    told = {label: item["documentation"] for label, item in found.items()}
    assert all(str(words).strip() for words in told.values())


def test_kinds_of_faults_are_offered(server: LanguageServer) -> None:
    items = server.completions(f"{HEAD}faults:\n  - kind: |\n")
    assert {item["label"] for item in items} == set(faults())
    told = {item["label"]: str(item["documentation"]) for item in items}
    assert told["transport.refused"].startswith(faults()["transport.refused"].text[:20])


def test_the_settings_of_a_kind_are_offered(server: LanguageServer) -> None:
    knobs = {*FaultSpec.__struct_fields__} - {"kind", "settings"}
    found = _labels(server, "faults:\n  - kind: http.status\n    |\n")
    assert found == knobs | set(faults()["http.status"].settings)
    assert _labels(server, "faults:\n  - kind: tools.fails\n    on: |\n") == {"tool"}


def test_checks_and_their_settings_are_offered(server: LanguageServer) -> None:
    assert "no_progress_stop" in _labels(server, "checks:\n  |\n")
    found = _labels(server, "checks:\n  no_progress_stop:\n    |\n")
    assert found == {"repeats", "failures", "pause_s", "polls"}
    assert "no_progress_stop" in _labels(server, "expect:\n  must:\n    - |\n")


def test_hovering_says_what_a_word_is(server: LanguageServer) -> None:
    told = server.hover(f"{HEAD}faults:\n  - kind: http.sta|tus\n")
    assert told.startswith("An error status with its provider's type"), told
    assert "transport.refused" not in told, "the other kinds are not listed"
    assert "header" in server.hover(f"{HEAD}faults: [{{kind: http.status, retry_a|fter: 3}}]\n")
    assert "Calls of the model" in server.hover(f"{HEAD}limits: {{model_c|alls: 3}}\n")
    assert "equal steps" in server.hover(f"{HEAD}checks: {{no_progress_stop: {{rep|eats: 3}}}}\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("limts: {}", "Property limts is not allowed"),
        ("faults: [{kind: http.status, stauts: 3}]", "Property stauts is not allowed"),
        ("faults: [{kind: http.stauts}]", 'Value must be "approvals.about_another_call"'),
        ("faults: [{kind: http.status, status: 200}]", "below the minimum of 400"),
        ("faults: [{kind: tools.fails, on: model}]", 'Valid values: "tool"'),
        ("checks: {no_progres_stop: {}}", "Property no_progres_stop is not allowed"),
        ("wire: gemni", 'Valid values: "anthropic"'),
        ("wire: gemini\ndialect: bedrock", 'Valid values: "", "gemini"'),
        ("inbox: [{text: Hello, kind: massage}]", 'Valid values: "cancel"'),
    ],
)
def test_a_mistake_is_marked(server: LanguageServer, text: str, told: str) -> None:
    found = server.problems(f"{HEAD}{text}\n")
    assert any(told in message for message in found), found


def test_scenarios_of_the_catalogue_have_no_mark(server: LanguageServer) -> None:
    paths = _scenarios()[::12]
    assert len(paths) > 15
    assert _marked(server, paths) == {}


@pytest.mark.nightly
def test_no_scenario_of_the_catalogue_has_a_mark(server: LanguageServer) -> None:
    assert _marked(server, _scenarios()) == {}


def _scenarios() -> list[Path]:
    return [path for path in sorted((ROOT / "scenarios").rglob("*.yaml")) if has_script(path)]


def _marked(server: LanguageServer, paths: list[Path]) -> dict[str, list[str]]:
    found = {path.name: server.problems(path.read_text("utf-8"), path.name) for path in paths}
    return {name: messages for name, messages in found.items() if messages}
