"""Environments that the brief offers: two of its tools are the machine room, not the model's.

`create_environment` takes a specification in full and makes an environment of it. The optional
`environment_settings` answers the section of the configuration as JSON. What it says goes through
the variables of a process, as it must for a tool that runs in one of its own, so there is one way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from harness.agent.environment.settings import SECTION, from_section, from_variables, to_variables
from harness.agent.environment.shared import Environments
from harness.agent.environment.spec import EnvironmentSpec
from harness.core.values.brief import Tool
from harness.core.values.errors import InputError

CREATE, SETTINGS_OF = "create_environment", "environment_settings"


class ToolBackend:
    """A backend whose environments a tool makes."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def create(self, spec: EnvironmentSpec) -> Any:
        """What the tool answers; raises what it raises."""
        return self.tool.call(spec.plain(), id=CREATE)


def offered(
    tools: Sequence[Tool], bridge: Callable[[EnvironmentSpec], dict[str, str]] = to_variables
) -> Environments:
    """The environments that the tools offer; none without `create_environment`."""
    named = {tool.name: tool for tool in tools}
    backend = ToolBackend(named[CREATE]) if CREATE in named else None
    return Environments(backend, lambda: from_variables(bridge(_configured(named))))


def for_the_model(tools: Sequence[Tool]) -> list[Tool]:
    """The tools without those that only make the environment."""
    hidden = (CREATE, SETTINGS_OF) if any(tool.name == CREATE for tool in tools) else ()
    return [tool for tool in tools if tool.name not in hidden]


def _configured(named: dict[str, Tool]) -> EnvironmentSpec:
    """What the configuration says. Raises InputError when that is no JSON object."""
    if SETTINGS_OF not in named:
        return EnvironmentSpec()
    said = named[SETTINGS_OF].call({}, id=SETTINGS_OF)
    try:
        section = json.loads(said)
    except (TypeError, ValueError) as error:
        raise InputError(f"the settings are not JSON: {error}", SECTION) from None
    if not isinstance(section, dict):
        raise InputError("the settings are not an object", SECTION)
    return from_section(section)
