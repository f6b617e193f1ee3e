"""The SDKs of npm keep the path of their base URL, so a recording knows its agent."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.transports.sdk_clients import model_environment
from tests.node.conftest import NodePackages
from tests.transports.recording import proxy
from tests.transports.test_recording_token import SDKS, provider

CALLS = Path(__file__).with_name("sdk_calls.mjs")


@pytest.mark.real
@pytest.mark.parametrize("stream", ["", "+stream"])
@pytest.mark.parametrize("wire", SDKS)
def test_an_sdk_of_npm_is_recorded(
    wire: str, stream: str, node_packages: NodePackages, tmp_path: Path
) -> None:
    program = shutil.copy(CALLS, node_packages.folder)  # it imports what stands beside it
    with provider(wire) as url, proxy(url, key="the-real-key") as (server, recorder):
        done = subprocess.run(
            [node_packages.node, program, f"{wire}{stream}"],
            env={**os.environ, **model_environment(server.url)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stdout == "hello\n", done.stderr
        recorder.write(tmp_path / "x.yaml")
    assert (len(recorder), server.refused) == (1, 0)
    assert server.token not in (tmp_path / "x.yaml").read_text()
