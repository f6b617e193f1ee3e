"""An environment that is configured in full, who notes that it is made, and what may be said."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.agent.tool_environment import CREATE, EnvironmentSpec
from harness.core.values.messages import Json
from harness.runner import Run

TOOLS = ("terminal", "file", "code")
CONFIGURED: dict[str, Json] = {
    "image": "python:3.12",
    "env": {"HTTP_PROXY": "http://proxy:3128", "LANG": "nb_NO.UTF-8"},
    "network": "bridge",
    "cap_drop": ["NET_RAW", "SYS_ADMIN"],
    "security_options": ["seccomp=strict.json"],
    "mounts": ["/srv/data:/data:ro"],
    "extra_args": ["--gpus", "all"],
    "cpus": 2.5,
    "memory_mib": 8192,
    "disk_mib": 51200,
    "pids": 64,
}
"""What the scenario `environment-parity` configures: no key is at its default."""

TEXTS = st.lists(st.text(max_size=8), max_size=3)
NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
SECTIONS = st.fixed_dictionaries(
    {},
    optional={
        "image": NAMES,
        "env": st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3),
        "network": NAMES,
        **dict.fromkeys(("cap_drop", "security_options", "mounts", "extra_args"), TEXTS),
        "cpus": st.floats(0.01, 4096),
        **{k: st.integers(1, 2**40) for k in ("memory_mib", "disk_mib", "pids")},
    },
)


class Recording:
    """A backend that notes what it is asked for; `handle` is its number."""

    def __init__(self) -> None:
        self.asked: list[EnvironmentSpec] = []

    def create(self, spec: EnvironmentSpec, /) -> int:
        """The next number."""
        self.asked.append(spec)
        return len(self.asked)


def created(played: Run) -> list[Json]:
    """The inputs with which a run made environments."""
    executions = played.history.trace.executions
    return [e.request.input for e in executions if e.request.name == CREATE]
