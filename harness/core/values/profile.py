"""The profile: a description of an agent under test, as data.

A capability is a connection that an agent has or lacks, never a quality. A profile is in the
configuration or in a separate file, and in the first event of a history.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, TypeVar, get_args

import msgspec

from harness.core.values.calls import Purpose
from harness.core.values.messages import Json
from harness.core.values.strict import FromOne, Seconds, Strict
from harness.core.values.verdict import FindingClass

Capability: TypeAlias = Literal[
    "session",
    "store",
    "own_store",
    "cancel",
    "compaction",
    "streaming",
    "sub_agents",
    "outbox",
    "restarts",
    "tools",
    "approvals",
]

Streaming: TypeAlias = Literal["never", "always", "either"]
"""Whether an agent streams the answers of the model; `either`: as the scenario says."""

Results: TypeAlias = Literal["blocks", "text", "verbatim"]
"""How an agent sends results of tools: as blocks of the API, as text of the user, or as blocks that
hold each text as the tool gave it."""

Replies: TypeAlias = Literal["status", "text"]
"""How an agent ends a turn: with a word for the outcome if it failed, or always as a text alone."""

InboundPolicy: TypeAlias = Literal["queue", "steer", "interrupt", "collect"]
"""What an agent does with a message that comes while a turn is open: it answers it afterwards, in
order; it gives it to the model in this turn; it cancels the turn and begins one with the message;
it answers all that have come as one."""

ChildPolicy: TypeAlias = Literal["queue", "steer"]
"""What an agent does with the result of a child in the background that ends while a turn is open:
it keeps it for the next turn, or gives it to the model in this one."""

SILENT = ("NO_REPLY", "<think>…</think>")
"""The words of a model that common agents keep from the user: openclaw's word for no reply, and the
thinking that open models write into their text."""

Cancel: TypeAlias = Literal["ask", "sigint"]
"""How a program learns that the user has cancelled its turn."""

CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
"""The names of all capabilities."""


class Connections(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of one run about an agent's connections.

    `needs` holds the capabilities whose lack explains the run; `used` holds those that the agent
    used. `speaks` tells whether it called the model on the run's wire. It is None if a crash or a
    hang leaves that open, or if the profile declares the wire. `offers` holds the names of the
    agent's own tools, if its requests offer no tool of the scenario. `said` holds what the user and
    the model said in the run, `past` what else the first request held. By both a command sees that
    a session outlives its run. `unbound` says why the run of an agent with its own tools does not
    apply: a call met none of them, or the scenario rests on what its own tools say.
    `names_ids` tells whether a reply or a stored row names the message that it belongs to.
    """

    needs: tuple[Capability, ...] = ()
    used: frozenset[Capability] = frozenset()
    speaks: bool | None = None
    offers: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    unbound: str = ""
    names_ids: bool | None = None


NO_CONNECTIONS = Connections()
"""The evidence of a run about which nothing is known."""


class Capabilities(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """A profile's declaration of each capability: present, absent, or none (None)."""

    session: bool | None = None
    store: bool | None = None
    own_store: bool | None = None
    cancel: bool | None = None
    compaction: bool | None = None
    streaming: bool | None = None
    sub_agents: bool | None = None
    outbox: bool | None = None
    restarts: bool | None = None
    tools: bool | None = None
    approvals: bool | None = None


class ProfileLimits(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The limits of a run that depend on the agent and its machine; None keeps the scenario's."""

    real_s: Seconds | None = None
    memory_mb: FromOne | None = None


class Profile(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The description of an agent.

    `turn_ending_tools` end a turn when they are called. After `gives_up_after` failures in a turn
    the agent ends it with an error. `results: text`: the agent sends results of tools as text;
    `verbatim`: each in its own words, and never as a picture, a translation or a summary.
    `replies: text`: it has no way to say that a turn failed but its text. `silent` are words of the
    model that are not for the user. `tool_names` maps a name
    of the scenario to the agent's; any other tool of the scenario has `tool_prefix` before its
    name. `safe_tools` are tools of the agent that may be called with any input that fits. `checks`
    are settings of checks, as in a scenario. `cancel` is the way in which a program learns of a
    cancel: it polls a URL, or gets SIGINT. `inbound` says that messages are pushed to the agent
    while it works, and what it does with them. It is one policy, or one for each pattern of a
    session's name (`*` for any text), of which the first that fits counts. `children` says the same
    of the results of children in the background.
    """

    target: str = ""
    wires: tuple[str, ...] = ()
    stream: Streaming = "either"
    capabilities: Capabilities = Capabilities()
    turn_ending_tools: tuple[str, ...] = ()
    gives_up_after: FromOne | None = None
    results: Results = "blocks"
    replies: Replies = "status"
    silent: tuple[str, ...] = SILENT
    tool_prefix: str = ""
    tool_names: dict[str, str] = {}
    safe_tools: tuple[str, ...] = ()
    purposes: dict[str, Purpose] = {}
    checks: dict[str, dict[str, Json]] = {}
    limits: ProfileLimits = ProfileLimits()
    cancel: Cancel = "ask"
    inbound: InboundPolicy | dict[str, InboundPolicy] | None = None
    children: ChildPolicy | None = None
    store: str = ""
    fail_on: FindingClass | None = msgspec.field(default=None, name="fail-on")
    keep: bool = False

    def declares(self, capability: Capability) -> bool | None:
        """Whether the profile declares a capability present or absent; None if it declares
        neither."""
        stated: bool | None = getattr(self.capabilities, capability)
        if stated is None and capability == "streaming" and self.stream != "either":
            return self.stream == "always"
        if stated is None and capability == "own_store" and self.store:
            return True
        return stated

    def completed_by(self, known: Profile) -> Profile:
        """This profile, with the values of `known` for fields that it does not set."""
        if known == NO_PROFILE:
            return self
        made = _completed(self, known)
        return msgspec.structs.replace(
            made,
            capabilities=_completed(self.capabilities, known.capabilities),
            limits=_completed(self.limits, known.limits),
        )

    def inbound_policy(self, session: str) -> InboundPolicy | None:
        """What the agent does with a message of a session in mid-turn; None if it asks for each."""
        if not isinstance(self.inbound, dict):
            return self.inbound
        for name, policy in self.inbound.items():
            if re.fullmatch(re.escape(name).replace(r"\*", ".*"), session, re.DOTALL):
                return policy
        return None

    def agent_name(self, tool: str) -> str:
        """The agent's name of a tool of the scenario."""
        return self.tool_names.get(tool) or self.tool_prefix + tool


_S = TypeVar("_S", bound=Strict)


def _completed(own: _S, known: _S) -> _S:
    """The fields of `own`; where one has its default, that of `known`."""
    default = type(own)()
    fields = type(own).__struct_fields__
    said = {name for name in fields if getattr(own, name) != getattr(default, name)}
    return msgspec.structs.replace(
        own, **{name: getattr(known, name) for name in fields if name not in said}
    )


NO_PROFILE = Profile()
"""The default profile of an agent."""


def profile_of(value: Json) -> Profile:
    """A profile from plain values, as a history keeps them.

    Raises msgspec.ValidationError for an invalid profile.
    """
    return msgspec.convert(value or {}, type=Profile)
