from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.cli.warm_start import WarmStart


def test_a_command_that_runs_too_long_answers_for_itself_alone(
    warm_start: WarmStart, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match="still runs after 0"):
        warm_start.run(["--version"], tmp_path, environment(), timeout_s=0)
    refused = warm_start.run(["--no-such-option"], tmp_path, environment(), timeout_s=120)
    assert refused.returncode == 2
    assert "--no-such-option" in refused.stderr
