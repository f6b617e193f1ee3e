"""Lines that are appended: whole ones stay, a torn one is cut, and a strange one is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.core.values.errors import InputError
from harness.files.appended_lines import AppendedLines, lines_in, without_torn_line


@pytest.mark.parametrize("kept", range(25))
def test_lines_are_appended_behind_the_last_whole_one(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "new" / "x"
    first = AppendedLines(path, 0)
    for line in ({"a": 1}, {"b": "\n"}):
        first.write(line)
    first.close()
    data = path.read_bytes()[:kept]
    path.write_bytes(data)
    again = AppendedLines(path, len(without_torn_line(data)))
    again.write([3])
    again.close()
    assert path.read_bytes() == data[: data.rfind(b"\n") + 1] + b"[3]\n"


def test_a_line_that_cannot_be_read_is_named() -> None:
    numbers = msgspec.json.Decoder(int)
    assert list(lines_in(b"1\n2\n", numbers, Path("x"), "count")) == [1, 2]
    with pytest.raises(InputError, match=r"x:2: no line of a count"):
        list(lines_in(b"1\n{}\n", numbers, Path("x"), "count"))
