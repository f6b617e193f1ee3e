"""Files of the user are read by one bounded reader: this test looks for any other one."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.source

HARNESS = Path(__file__).parents[1] / "harness"

READER = "files/regular_file.py"

EXCEPTIONS = {
    "adapters/openai_runner.py": (1, "the state of a run, which the adapter wrote"),
    "adapters/shared/framework_agent.py": (1, "the session of the run, which the harness wrote"),
    "agent/composition.py": (1, "the seed that the runner laid in the session folder"),
    "agent/message_reader.py": (2, "the agent's own file"),
    "agent/sessions/session_archive.py": (3, "the agent's own files"),
    "cassettes/folder_redaction.py": (3, "regular files of a session folder that is kept"),
    "cli/__init__.py": (1, "/dev/null"),
    "cli/harness_source.py": (1, "how the package itself was installed"),
    "cli/reports.py": (1, "opened to append to the summary of a step of GitHub"),
    "cli/terminal.py": (2, "its own descriptor, and /dev/null"),
    "core/values/table_file.py": (1, "a file of the package"),
    "files/appended_lines.py": (1, "opened to append"),
    "files/owner.py": (2, "/proc, and its own lock, of which 20 bytes are read"),
    "processes/guardian.py": (1, "/proc"),
    "processes/proc.py": (1, "/proc"),
    "pytest_plugin/play_settings.py": (1, "a file of the package"),
    "runner/disk_log.py": (1, "a database without a file"),
    "runner/forked_target.py": (11, "files of its own temporary folder"),
    "runner/own_files.py": (2, "regular files of the agent, of 8 MB at most"),
    "runner/program_marks.py": (1, "a regular file of the run's own folder, of 16 MB at most"),
    "stores/formats/claude_code.py": (1, "a store, read while the agent writes it"),
    "stores/faulty_files.py": (6, "the store that a fault damages"),
    "stores/formats/json_rows.py": (1, "a store, of bounded size, read while the agent writes it"),
    "stores/plain_tables.py": (4, "a database, by its head: SQLite reads by pages"),
    "stores/jsonl.py": (2, "a store, read while the agent writes it"),
    "stores/sqlite.py": (1, "a database: SQLite reads by pages"),
    "stores/formats/own_formats.py": (1, "a store, read while the agent writes it"),
    "sweep/fault_meetings.py": (2, "its own temporary file"),
    "targets/acp_client.py": (1, "its own file, in a program without the package"),
    "targets/known/driver.py": (
        2,
        "an answer, and a mark to append; a program without the package",
    ),
    "targets/known/hermes_gateway.py": (1, "its own file, in a program without the package"),
    "targets/known/hermes_plugin.py": (1, "its own file, in a program without the package"),
    "targets/known/hermes_seed.py": (1, "the session of the run, in a program without the package"),
    "targets/marks.py": (1, "opened to append"),
    "targets/output_capture.py": (1, "/dev/null"),
    "targets/process_state.py": (1, "/dev/null"),
    "contracts/store_contract.py": (2, "the store of a law's own temporary folder"),
}
"""By file: how many calls read without the bounded reader, and what they read."""

_METHODS = {"read_text", "read_bytes", "get_data", "memmap"}
_MODULES = {"os", "io", "gzip", "bz2", "lzma", "zipfile", "tarfile", "codecs", "shelve", "dbm"}


def _reads(source: str) -> Iterator[int]:
    """The lines of the calls that open or read a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _is_read(node):
            yield node.lineno


def _is_read(call: ast.Call) -> bool:
    match call.func:
        case ast.Name("open"):
            return True
        case ast.Attribute(ast.Name(module), "open") if module in _MODULES:
            return True
        case ast.Attribute(ast.Name("sqlite3"), "connect"):
            return True
        case ast.Attribute(_, "open"):
            return bool(call.args) and _is_mode(call.args[0])
        case ast.Attribute(_, method):
            return method in _METHODS
    return False


def _is_mode(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and str(value.value)[:1] in "rwax"


def test_no_other_reader() -> None:
    found = Counter(
        str(path.relative_to(HARNESS))
        for path in HARNESS.rglob("*.py")
        for _ in _reads(path.read_text("utf-8"))
    )
    del found[READER]
    assert found == {path: number for path, (number, _) in EXCEPTIONS.items()}


@pytest.mark.parametrize(
    "source",
    [
        "open('x')", "Path('x').read_text()", "path.read_bytes()", "path.open('rb')",
        "os.open(path, os.O_RDONLY)", "gzip.open('x')", "sqlite3.connect('x')",
    ],
)  # fmt: skip
def test_a_reader_is_seen(source: str) -> None:
    assert list(_reads(source)) == [1]


def test_what_is_no_reader() -> None:
    assert not list(_reads("transcript.open(inbound)\nself.open()\nopened(path)"))
