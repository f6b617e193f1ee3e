"""What a scenario names is read before the first run starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.selection import check_files, plan
from harness.core.values.errors import InputError


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("script: {cassette: nothere.yaml}\n", "nothere.yaml"),
        ("script: [{say: x}]\nsession: {format: jsonl, file: nothere.jsonl}\n", "nothere.jsonl"),
    ],
)
def test_a_file_that_is_missing_is_an_error_before_any_run(
    tmp_path: Path, body: str, names: str
) -> None:
    (tmp_path / "bad.yaml").write_text(f"name: bad\ninbox: hello\n{body}")
    with pytest.raises(InputError, match=names) as caught:
        check_files(plan([tmp_path / "bad.yaml"]))
    assert "bad.yaml" in str(caught.value)
