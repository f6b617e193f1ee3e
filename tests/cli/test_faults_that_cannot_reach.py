"""A fault on bytes where a target has only values is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Harness

SCENARIO = """\
name: {name}
inbox: Hello
tools: {{t: {{}}}}
script: [{{say: Good morning.}}]
faults: [{{kind: {kind}, on: {on}, when: 1}}]
"""


def written(folder: Path, name: str, kind: str, on: str) -> None:
    text = SCENARIO.format(name=name, kind=kind, on=on)
    (folder / f"scenarios/{name}.yaml").write_text(text)


@pytest.mark.parametrize(
    ("on", "hint"),
    [("tool", "tools.late"), ("tool:t", "tools.raises"), ("inbox", "http."), ("outbox", "http.")],
)
def test_a_byte_fault_on_a_plain_call_is_an_error_before_the_first_run(
    harness: Harness, folder: Path, on: str, hint: str
) -> None:
    written(folder, "zz-last", "transport.latency", on)
    done = harness("run", "--target", "agents:good")
    assert (done.returncode, done.stdout) == (2, "")
    seam = on.partition(":")[0]
    assert f"fault transport.latency: on {on!r}: a Python target's {seam} is a plain" in done.stderr
    assert hint in done.stderr.partition("use a fault on values: ")[2]
    assert "zz-last: faults[0]" in done.stderr
    assert not (folder / ".harness").exists()
