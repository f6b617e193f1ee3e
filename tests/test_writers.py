"""Nothing is written around the encoder: who encodes by himself stands here, with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture_rules import Module, modules

pytestmark = pytest.mark.source

WRITING_ROOMS = (
    "cli", "report", "runner", "fuzz", "files", "cassettes", "doctor", "pytest_plugin", "shrink",
    "engines", "schema", "comparison", "configuration", "plugins",
)  # fmt: skip

ALLOWED = {
    "cli.import_trial": "tells its parent the outcome, in ASCII",
    "cli.judge_journal": "digests a profile",
    "cli.schema": "our own schema",
    "cli.explanations": "our own defaults, which are shown by `terminal.out`",
    "cli.target_probes": "names of wires, in a scratch folder",
    "cli.project_plan": "our own schema",
    "cli.terminal": "prints what the encoder made",
    "doctor.profile_text": "strings of TOML, after the encoder's masks",
    "cassettes.folder_redaction": "writes an agent's file again, masked",
    "runner.forked_target": "tells the parent process, which encodes",
    "runner.own_files": "leaves an agent's file as a kill does",
    "runner.recorded_calls": "the body of an answer",
    "runner.session_seed": "what the agent reads",
    "runner.supervise": "the environment of the agent",
    "schema.part_schema": "compares settings",
    "files.trusted_folders": "names of folders, through the encoder's `encoded`",
    "pytest_plugin.vcr_suite": "reads a body of vcrpy",
    "fuzz.findings": "bytes of the encoder",
    "cli.shrink_source": "bytes of the encoder",
    "cli.model": "a test compares the texts of its own requests, and the pipe leads to it alone",
}  # fmt: skip

_CALLS = ("write_text", "write_bytes", "print", "json.dumps", "json.dump", "msgspec.json.encode")
_HANDLERS = ("backslashreplace", "surrogateescape", "surrogatepass", "xmlcharrefreplace")


def _written_by_hand(module: Module) -> Iterator[str]:
    for node in module.nodes:
        match node:
            case ast.Call():
                called = ast.unparse(node.func)
                if called in _CALLS or called.rpartition(".")[2] in ("write_text", "write_bytes"):
                    yield module.at(node.lineno, called)
                if called.endswith(".encode") and any(
                    isinstance(a, ast.Constant) and a.value in _HANDLERS for a in node.args
                ):
                    yield module.at(node.lineno, ast.unparse(node)[-60:])


def _places(package: Path) -> Iterator[tuple[str, str]]:
    for module in modules(package):
        if module.room in WRITING_ROOMS:
            yield from ((module.name, place) for place in _written_by_hand(module))


def test_no_room_writes_around_the_encoder() -> None:
    found = dict(_places(Path("harness")))
    assert {name: place for name, place in found.items() if name not in ALLOWED} == {}
    assert [name for name in ALLOWED if name not in found] == [], "no longer needed"


@pytest.mark.parametrize(
    "line",
    ['path.write_text("x")', 'print("x")', "msgspec.json.encode(x)", "json.dumps(x)",
     'text.encode("utf-8", "backslashreplace")'],
)  # fmt: skip
def test_a_writer_of_his_own_is_found(tmp_path: Path, line: str) -> None:
    room = tmp_path / "harness/report"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "mine.py").write_text(f"def f(x, path, text):\n    {line}\n")
    [(name, _)] = _places(tmp_path / "harness")
    assert name == "report.mine"
