"""The structs of a scenario, which are the schema of its file format.

msgspec decodes into them strictly and prints the JSON Schema from them. The room `files` turns YAML
into plain values, with line numbers for errors.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from harness.core.values.calls import InboundKind, Purpose
from harness.core.values.messages import Json
from harness.core.values.orders import Order
from harness.core.values.profile import NO_PROFILE, Capability, Profile
from harness.core.values.strict import Count, FromOne, Milliseconds, Seconds, Strict
from harness.core.values.verdict import FindingClass, OutcomeWord


class Bounds(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The bounds of a count."""

    min: Count = 0
    max: Count | None = None


class ExpectCalls(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The bounds of the calls on each seam, and of each tool."""

    model: Bounds | None = None
    tool: dict[str, Bounds] = {}


class Waits(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """A schedule of waits in seconds, each within `tolerance` of its own length."""

    schedule: tuple[float, ...] = ()
    tolerance: float = 0.0


class MustNot(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The forbidden tools, and the forbidden words in a final or an error."""

    call: tuple[str, ...] = ()
    say: tuple[str, ...] = ()


_Words: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]

REPLY_WORDS = ("has", "lacks", "once", "pattern")
"""What an expectation asks of a reply; `turn` and `session` choose the replies."""


class ExpectReply(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """What the user reads in some turns: all that `turn` and `session` do not leave out."""

    turn: FromOne | None = None
    session: str | None = None
    has: _Words | tuple[_Words, ...] = ()
    lacks: _Words | tuple[_Words, ...] = ()
    once: _Words | tuple[_Words, ...] = ()
    pattern: _Words | None = None

    def __post_init__(self) -> None:
        """Raise ValueError where nothing is asked."""
        if not any(getattr(self, word) for word in REPLY_WORDS):
            raise ValueError(f"`reply` takes one of {', '.join(map('`{}`'.format, REPLY_WORDS))}")

    @property
    def turns_named(self) -> str:
        """The turns in words; "" for all."""
        turn = f"turn {self.turn}" if self.turn else ""
        return " of ".join(filter(None, [turn, self.session]))


Policy: TypeAlias = Literal["strict", "open"]
"""How a script binds an agent. `strict`: the agent plays it exactly to its end. `open`: only the
declared expectations and prohibitions count."""


class Expect(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The behaviour of a correct agent in this scenario; `outcome` is one word or several allowed
    words.

    Findings of the class `fail_on` and worse fail it.
    """

    outcome: OutcomeWord | Annotated[tuple[OutcomeWord, ...], msgspec.Meta(min_length=1)] | None = (
        None
    )
    must: tuple[str, ...] = ()
    must_not: MustNot = MustNot()
    reply: ExpectReply | tuple[ExpectReply, ...] = ()
    calls: ExpectCalls = ExpectCalls()
    inputs: dict[str, Json] = {}
    waits_s: tuple[float, ...] | Waits | None = None
    known: tuple[str, ...] = ()
    fail_on: FindingClass | None = None

    @property
    def replies(self) -> tuple[ExpectReply, ...]:
        """What is asked of replies, in the order of the file."""
        return (self.reply,) if isinstance(self.reply, ExpectReply) else self.reply


Times: TypeAlias = FromOne | Literal["forever"]
CallKey: TypeAlias = Annotated[
    str, msgspec.Meta(pattern=r"^(.+/)?(model|tool|approval|inbox|outbox|store)#[1-9][0-9]*$")
]
"""The n-th call on a seam, of one session or (`model#3`) of the whole run."""

SessionFormat: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[\w.]+$")]
"""The name of a store reader: one of ours, or `PREFIX.name` of a plug-in."""

SessionName: TypeAlias = Annotated[
    str, msgspec.Meta(pattern=r"^(?=\S)(?!\.{1,2}$)[^\x00-\x1f\x7f]+(?<=\S)(?!\n)$")
]
"""The name of a chat, as channels give it: any signs and letters, and no blank at an end.

The last `/` and `#` of a key part the session from the call (`a/b/model#1`). `.` and `..` are
refused, because clients take them out of a URL.
"""

DEFAULT_WIRE = "anthropic"
"""The default provider of a scenario; the room `providers` knows all names."""

EVERY_WIRE = "all"
"""The word for each wire that a scenario names, where one is asked for."""

OF_THE_COMMAND = ("variant", "folder", "overlaid", "profile", "files_from")
"""The fields of a scenario that are not keys of its file."""


class RequestText(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """A condition on a request: a text that it has, and a text that it lacks. The search covers the
    system text and all messages, in any letter case."""

    has: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    lacks: Annotated[str, msgspec.Meta(min_length=1)] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError without a text."""
        if self.has is None and self.lacks is None:
            raise ValueError("`when` takes `has`, `lacks` or both")


class Turn(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """A turn of the fake model.

    `say`, `think` and `use` (with `input`) are the short form of one text, thinking and tool call;
    `blocks` gives them in full. A conditional turn (`when`) is played only while its condition
    holds, and then ends a running `times`. `refused`: a result arrived although its call never
    crossed the tool seam. `ended`: the request offers no tools any more. A mapping: the request has
    or lacks a text. `unoffered`: its calls are not what the request offers, by name or by input.
    """

    say: str | None = None
    think: str | None = None
    use: str | None = None
    input: Json = msgspec.UNSET
    blocks: tuple[dict[str, Json], ...] = ()
    stop: str | None = None
    usage: dict[str, int] = {}
    times: Times = 1
    optional: bool = False
    unoffered: bool = False
    when: Literal["refused", "ended"] | RequestText | None = None
    purpose: Purpose = msgspec.field(default="main", name="for")

    @property
    def is_owed(self) -> bool:
        """Whether the turn must be played: it is neither optional nor conditional."""
        return not self.optional and self.when is None

    def __post_init__(self) -> None:
        """Raise ValueError for an input without its tool."""
        if self.use is None and self.input is not msgspec.UNSET:
            raise ValueError("`input` belongs to a `use`")


class CassetteScript(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """A recording played strictly: its path, from the scenario file's folder or the root.

    `timing`: each answer arrives at once, or in the recorded pieces and after the recorded waits.
    """

    cassette: str
    timing: Literal["at_once", "recorded"] = "at_once"


class ToolTurn(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """A turn of a scripted tool: one outcome, with `effect` and a `hang` before it.

    `ok` is text or content blocks; `error` an error that the tool reports; `raise` an exception
    from the tool; `bytes` a number of output bytes. `hang` is a number of seconds; with `true` the
    tool never returns, and no outcome follows.
    """

    ok: Json = msgspec.UNSET
    error: str | None = None
    raises: str | None = msgspec.field(default=None, name="raise")
    hang: bool | Seconds = False
    bytes: Count | None = None
    effect: str | None = None
    key: str = ""
    times: Times = 1

    def __post_init__(self) -> None:
        """Raise ValueError for more than one outcome, or for none."""
        said = [self.error, self.raises, self.bytes, None if self.ok is msgspec.UNSET else "ok"]
        outcomes = sum(outcome is not None for outcome in said) + (self.hang is True)
        if outcomes > 1:
            raise ValueError("only one of `ok`, `error`, `raise`, `bytes` and `hang: true`")
        if not outcomes and not self.hang and self.effect is None:
            raise ValueError("a turn needs `ok`, `error`, `raise`, `hang`, `bytes` or `effect`")


def _no_arguments() -> dict[str, Json]:
    return {"type": "object", "properties": {}}


class ApprovalTurn(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The user's answer to a question about a call of the tool.

    `always` allows further calls too. `expire`: no answer comes in time.
    `input` is the edited input, which is allowed. The answer comes after `after_s` seconds.
    `names` is the id that it names in place of the call's.
    """

    answer: Literal["allow", "always", "deny", "expire"] = "allow"
    input: Json = msgspec.UNSET
    reason: str = ""
    after_s: Seconds = 0.0
    names: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for an edited input that is not allowed."""
        if self.input is not msgspec.UNSET and self.answer != "allow":
            raise ValueError("`input` belongs to the answer `allow`")


class ToolScript(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """A tool as offered, and its answers; without a script it always answers `ok`.

    With `approval` its calls need the user's approval: the answers in order, the last one for good.
    """

    description: str = ""
    input_schema: dict[str, Json] = msgspec.field(default_factory=_no_arguments)
    script: tuple[ToolTurn, ...] = ()
    approval: tuple[ApprovalTurn, ...] = ()


class AtMs(Strict, frozen=True, kw_only=True):
    """At a time of the run's clock."""

    ms: Milliseconds


class After(Strict, frozen=True, kw_only=True):
    """After a call was answered, named by its key: `model#3`, or `SESSION/model#3`."""

    after: CallKey


class InboxItem(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """An inbound message. `idle` (default): once no turn is open; `start`: at once."""

    id: str = ""
    text: str = ""
    kind: InboundKind = "message"
    session: SessionName = "main"
    when: Literal["start", "idle"] | dict[str, Json] = "idle"
    attributes: dict[str, Json] = {}


class When(Strict, frozen=True, kw_only=True):
    """The forms of a fault's `when` that are mappings: after a call, or with a probability."""

    after: Count | CallKey | None = None
    p: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one is given."""
        if (self.after is None) == (self.p is None):
            raise ValueError("`when` takes either `after` or `p`")


class FaultSpec(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """An armed fault: its kind (`layer.name`), the common keys, and its own settings.

    Without `on` it strikes on its first seam: `model` for most faults, `tool` for faults of tools.
    `provider` and `models` leave it the calls of one provider, and of models by a pattern of their
    names; `when` counts those. `lasts_s` ends it that many seconds after it first strikes.
    """

    kind: str
    on: str = ""
    provider: str = ""
    models: str = ""
    when: FromOne | tuple[FromOne, ...] | When = 1
    often: Times | Literal["once"] = "once"
    then: Literal["ok", "same", "escalate"] = "ok"
    lasts_s: Seconds | None = None
    must_fire: bool = True
    settings: dict[str, Json] = {}


_UNREACHED = 1 << 40


class Limits(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The limits of a run; each loop has a named limit, and reaching it is a finding."""

    model_calls: Count = 50
    turn_calls: Count = 1000
    tool_calls: Count = 100
    outbox_calls: Count = 1000
    inbox_calls: Count = 1000
    provider_calls: Count = 1000
    virtual_s: Seconds = 86400.0
    real_s: Seconds = 30.0
    memory_mb: FromOne = 4096
    restarts: Count = 3

    @classmethod
    def unreached(cls, **given: float) -> Limits:
        """Limits of calls and of virtual time that nothing reaches, except those `given`.

        A mock, a recording or a measurement need not be stopped like an agent. The fields are
        listed, because a limit that is added later must not stop one either.
        """
        names = (*(name for name in cls.__struct_fields__ if name.endswith("_calls")), "virtual_s")
        return cls(**{**dict.fromkeys(names, _UNREACHED), **given})  # type: ignore[arg-type]


class SeedMessage(Strict, frozen=True, kw_only=True):
    """A stored message: its role, and text or blocks."""

    role: Literal["user", "assistant"]
    content: str | tuple[dict[str, Json], ...]


class Session(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """The stored session before the first message: messages, or a file in a format."""

    messages: tuple[SeedMessage, ...] = ()
    format: SessionFormat | None = None
    file: str | None = None


class Scenario(Strict, frozen=True, kw_only=True, omit_defaults=True):
    """One variant of a scenario, on one wire, streamed or not.

    `overlaid`: the user added faults (`--faults`) that its author does not know. `profile`
    describes the agent that plays it, from the command or the test. `files_from` holds further
    folders for its files, from the configuration.
    """

    name: str
    title: str = ""
    story: str = ""
    source: tuple[str, ...] = ()
    policy: Policy = "strict"
    wire: str = DEFAULT_WIRE
    dialect: str = ""
    stream: bool = False
    window_tokens: FromOne | None = None
    seed: int = 0
    orders: tuple[Order, ...] | None = None
    session: Session = Session()
    tools: dict[str, ToolScript] = {}
    inbox: tuple[InboxItem, ...] = ()
    script: tuple[Turn, ...] | CassetteScript = ()
    faults: tuple[FaultSpec, ...] = ()
    limits: Limits = Limits()
    checks: dict[str, dict[str, Json]] = {}
    purposes: dict[str, Purpose] = {}
    needs: tuple[Capability, ...] = ()
    expect: Expect = Expect()
    variant: str = ""
    folder: str = ""
    overlaid: bool = False
    profile: Profile = NO_PROFILE
    files_from: tuple[str, ...] = ()

    def failing_on(self, fail_on: FindingClass | None) -> Scenario:
        """The scenario with `fail_on` set to this class; unchanged for None."""
        if fail_on is None:
            return self
        expect = msgspec.structs.replace(self.expect, fail_on=fail_on)
        return msgspec.structs.replace(self, expect=expect)

    @property
    def run_name(self) -> str:
        """NAME[/VARIANT][@WIRE][+stream]."""
        variant = f"/{self.variant}" if self.variant else ""
        wire = f"@{self.wire}" if self.wire != DEFAULT_WIRE else ""
        return f"{self.name}{variant}{wire}{'+stream' if self.stream else ''}"
