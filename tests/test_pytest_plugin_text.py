"""What the pytest plugin prints of text from outside goes one way out, and controls no terminal."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.pytest_plugin import failure_text
from harness.pytest_plugin.play_fixture import Play

_FOLDER = Path(failure_text.__file__).parent


@pytest.mark.parametrize("end", [failure_text.fail, failure_text.skip])
def test_control_characters_are_written_out(end: Callable[[str], NoReturn]) -> None:
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as ended:
        end("a\x1b[2J\nb")
    assert ended.value.msg == "a\\u001b[2J\nb"


def test_a_failing_run_controls_no_terminal(tmp_path: Path) -> None:
    def crashes(brief: object) -> None:
        raise ValueError("red \x1b[31m text")

    asked = Scenario(name="a", inbox=(InboxItem(text="x"),), script=(Turn(say="y"),))
    with pytest.raises(pytest.fail.Exception) as failed:
        Play([tmp_path])(asked, crashes)
    assert "red \\u001b[31m" in str(failed.value.msg)
    assert "\x1b" not in str(failed.value.msg)


def test_no_other_module_of_the_plugin_fails_a_test_itself() -> None:
    calls = [
        f"{path.name}:{node.lineno}"
        for path in _FOLDER.glob("*.py")
        if path.stem != "failure_text"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("fail", "skip", "xfail")
    ]
    assert calls == []
