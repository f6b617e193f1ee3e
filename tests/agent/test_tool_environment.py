"""The environment beside its tools: refusals, tasks, failures, and what the model is offered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agent.tool_environment import (
    Environments,
    EnvironmentSpec,
    from_section,
    from_variables,
    with_set,
)
from harness.core.values.calls import Inbound
from harness.core.values.errors import InputError
from tests.agent.replies import text, use
from tests.agent.stand import Stand


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ({"extra_arg": []}, "terminal: there is no key 'extra_arg'; did you mean 'extra_args'?"),
        ({"extra_args": "--gpus all"}, "extra_args: the value does not fit"),
        ({"extra_args": None}, "extra_args: the value does not fit"),
        ({"env": ["A=1"]}, "env: the value does not fit"),
        ({"env": {"A": 1}}, "env: the value does not fit"),
        ({"image": "two words"}, "image: the value does not fit"),
        ({"image": ""}, "image: the value does not fit"),
        ({"cpus": 0}, "cpus: the value does not fit"),
        ({"cpus": "NaN"}, "cpus: the value does not fit"),
        ({"cpus": "Infinity"}, "cpus: the value does not fit"),
        ({"memory_mib": 1.5}, "memory_mib: the value does not fit"),
        ({"pids": True}, "pids: the value does not fit"),
    ],
)
def test_a_section_that_does_not_fit_is_refused_with_its_key(section: Any, says: str) -> None:
    with pytest.raises(InputError) as refused:
        from_section(section)
    assert str(refused.value).startswith(says)


def test_variables_that_do_not_fit_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"^TERMINAL_MOUNTS: the value does not fit"):
        from_variables({"TERMINAL_MOUNTS": "/a:/b", "PATH": "/bin"})


def test_variables_of_others_and_empty_ones_are_not_settings() -> None:
    assert from_variables({"PATH": "/bin", "TERMINAL_ENV": ""}) == EnvironmentSpec()


def test_an_unknown_name_is_not_set() -> None:
    with pytest.raises(InputError, match=r"did you mean 'terminal\.extra_args'"):
        with_set({}, "terminal.extra_arg", "[]")
    with pytest.raises(InputError, match=r"^terminal\.pids: the value does not fit"):
        with_set({}, "terminal.pids", "many")


class Failing:
    """A backend that fails at first."""

    def __init__(self) -> None:
        self.asked = 0

    def create(self, spec: EnvironmentSpec, /) -> int:
        """Nothing, then the number of the try."""
        self.asked += 1
        if self.asked == 1:
            raise OSError("the image could not be pulled")
        return self.asked


def test_a_failure_is_no_environment() -> None:
    environments = Environments(Failing(), EnvironmentSpec)
    with pytest.raises(OSError, match="pulled"):
        environments.ready("a", "file")
    assert [environments.ready("a", tool) for tool in ("file", "code")] == [2, 2]


def test_each_task_has_its_own_and_other_tools_have_none() -> None:
    backend = Failing()
    backend.asked = 1
    environments = Environments(backend, EnvironmentSpec)
    assert environments.ready("a", "search") is None
    assert [environments.ready(task, "file") for task in "aba"] == [2, 3, 2]


def _stand(tmp_path: Path, settings: Any, *inbox: Inbound | str) -> Stand:
    replies = [use("file", {"do": "read"}), text("done")] * max(len(inbox), 1)
    stand = Stand(tmp_path, replies, *(inbox or ("go",)))
    for name in ("file", "search", "create_environment"):
        stand.tool(name, "ok")
    stand.tool("environment_settings", settings)
    return stand


def test_the_machine_room_is_not_offered_to_the_model(tmp_path: Path) -> None:
    stand = _stand(tmp_path, '{"pids": 9}').run()
    offered = [tool["name"] for tool in stand.provider.requests[0]["tools"]]
    assert offered == ["file", "search"]
    assert [name for name, _ in stand.calls] == [
        "environment_settings",
        "create_environment",
        "file",
    ]


def test_each_conversation_has_an_environment_of_its_own(tmp_path: Path) -> None:
    inbox = [Inbound("m1", "a", "go"), Inbound("m2", "b", "go"), Inbound("m3", "a", "go")]
    stand = _stand(tmp_path, "{}", *inbox).run()
    assert [name for name, _ in stand.calls].count("create_environment") == 2


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("{", "terminal: the settings are not JSON"),
        ("[]", "terminal: the settings are not an object"),
        (None, "terminal: the settings are not JSON"),
        ('{"extra_arg": []}', "did you mean 'extra_args'?"),
    ],
)
def test_settings_that_cannot_be_read_make_nothing(
    tmp_path: Path, settings: Any, says: str
) -> None:
    stand = _stand(tmp_path, settings).run()
    assert [name for name, _ in stand.calls] == ["environment_settings"]
    result = stand.rows()[2].tool_results[0]
    assert result.is_error
    assert says in str(result.content)
