"""Which of an agent's own tools the calls of scenarios can meet: by name and by input.

A call of such a tool is really run. So only a tool whose name says that it looks something up is
bound without being asked for; any other one is named, for the user to decide.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.core.scenario.script import model_reply
from harness.core.transition.bound_tools import keys_of
from harness.core.transition.inline_faults import Misfit
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, ToolSpec, ToolUse, canonical
from harness.core.values.profile import Profile

_READS = re.compile(
    r"(?:\A|_)(?:check|count|describe|fetch|find|get|list|look|lookup|query|read|recall|search|show|"
    r"status|today|view|visit|weather)(?:_|\Z)"
)
"""Words of a name that promise no effect, in the writing of `_plain`."""


class Bindings(msgspec.Struct, frozen=True):
    """The agent's tool for each tool of scenarios, by the scenarios' name; `acting` fit too, and
    are not bound, because they may act."""

    names: dict[str, str] = {}
    acting: dict[str, str] = {}

    def bound(self, profile: Profile) -> Profile:
        """The profile with these names. One with tools to meet declares none absent."""
        names = {**self.names, **profile.tool_names}
        if not names and not profile.safe_tools:
            return profile
        capabilities = msgspec.structs.replace(profile.capabilities, tools=None)
        return msgspec.structs.replace(profile, tool_names=names, capabilities=capabilities)


def bindings(
    offered: Mapping[str, dict[str, Json]],
    scenarios: Iterable[Scenario],
    misfit: Misfit,
    safe: Iterable[str] = (),
) -> Bindings:
    """The agent's tools that have the name of a scenario's tool, and take some of its inputs."""
    known = [ToolSpec(name, "", schema) for name, schema in offered.items()]
    found: dict[str, str] = {}
    for name, uses in sorted(_calls(scenarios).items()):
        alike = [tool for tool in known if _is_alike(name, tool.name)]
        fitting = [tool.name for tool in alike if _takes(tool, uses, misfit)]
        if name not in offered and len(fitting) == 1 and fitting[0] not in found.values():
            found[name] = fitting[0]
    reads = {own for own in found.values() if own in {*safe} or _READS.search(_plain(own))}
    return Bindings(
        {name: own for name, own in found.items() if own in reads},
        {name: own for name, own in found.items() if own not in reads},
    )


def _calls(scenarios: Iterable[Scenario]) -> dict[str, list[ToolUse]]:
    """The different calls of each tool of the scenarios that keep to its schema."""
    found: dict[str, dict[str, ToolUse]] = defaultdict(dict)
    for scenario in scenarios:
        for turn in scenario.script if isinstance(scenario.script, tuple) else ():
            for use in [] if turn.unoffered else model_reply(turn, Draws(0), "").blocks:
                if isinstance(use, ToolUse) and use.name in scenario.tools:
                    found[use.name].setdefault(canonical(use.input), use)
    return {name: [*uses.values()] for name, uses in found.items()}


def _is_alike(name: str, own: str) -> bool:
    one, other = _plain(name), _plain(own)
    return one == other or other.endswith(f"_{one}") or one.endswith(f"_{other}")


def _plain(name: str) -> str:
    """`getWeather`, `get-weather` and `get_weather` alike."""
    return re.sub(r"\W+|(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()


def _takes(tool: ToolSpec, uses: Iterable[ToolUse], misfit: Misfit) -> bool:
    """Whether some calls fit: a run with another call is not applicable."""
    keys = keys_of(tool)
    return any(
        isinstance(use.input, dict)
        and keys >= use.input.keys()
        and not misfit(msgspec.structs.replace(use, name=tool.name), [tool])
        for use in uses
    )
