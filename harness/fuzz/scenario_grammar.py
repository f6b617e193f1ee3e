"""The grammar of whole scenarios, for every driver: a function of a `Choose`.

It makes the values of scenario files, so generated and written scenarios run in the same way. If
all answers are 0, the scenario has one message, no session, no faults, and a model that says
"Done.".
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cache

import msgspec

from harness.core.scenario.scenario import (
    DEFAULT_WIRE,
    ApprovalTurn,
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    Session,
    ToolScript,
    Turn,
)
from harness.core.values.messages import Json
from harness.fuzz.children_grammar import NONE, children_of, with_children
from harness.fuzz.choice_sequence import Choices, Choose, pick
from harness.fuzz.completion_oracle import PASSING, TOO_LONG, calls_of, expected_of, once
from harness.fuzz.fault_grammar import (
    ANSWER_LAYERS,
    BLOCKING_LAYERS,
    FaultRange,
    faults_of,
    layer_of,
    matching,
    reachable,
    with_fault_due,
)
from harness.fuzz.inbox_grammar import beside_tools, inbox_of
from harness.fuzz.script_grammar import CALL, TOOLS, WORK, script_of, tools_of
from harness.fuzz.session_grammar import session_of
from harness.providers import record

NAME = "generated"

SMALL_WINDOWS = (2_000, 400, 200)

WINDOWS = (None, None, None, *SMALL_WINDOWS)
"""Windows in tokens: mostly none, else one that a session soon fills or always exceeds."""

SMALLEST_UNTOLD_WINDOW = 1_000
"""The smallest window if a refusal gives neither the size of the prompt nor that of the window.
In a smaller one an agent cannot know what fits, even for the request for a summary."""

LIMITS = Limits(
    model_calls=400, turn_calls=80, tool_calls=400, virtual_s=604_800, restarts=9
)  # fmt: skip
"""Enough for five turns that a slow provider extends to their budget. A turn may have 50 requests,
and an SDK adds retries and redirects: the reference agent made 65 at most, in 8,000 scenarios. An
agent that never stops would need most of a campaign's time for more. Enough restarts for three
faults of each layer that ends an agent."""

LAST_MESSAGE = InboxItem(id="last", text="Are you there?")
"""The last message if a fault may block others, so that the agent has one to answer; and after a
cancel beside a tool, whose result may come up there."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Options that restrict the generated scenarios.

    `faults` are patterns of kinds (`("*",)` for all, `("http.*", "tools.raises")`, none by
    default); `mean_faults` are drawn on average. `kills`: faults that end the agent are included.
    `tools` maps names to input schemas; the scripted model knows `ping` and `look_up`. `damaged`:
    stored sessions may be damaged. `bursts`: messages come while a turn is open. `cancels`: users
    cancel turns. `pushed`: the agent is given messages while it works. `approvals`: it asks the
    user about the calls that need it. `children`: it has children that work in the background.
    `spirals`: models repeat themselves without end. `odd`:
    models say nothing, break off, or call unknown tools. `windows`: some have a small context
    window. Benign scenarios have none of these, and at most one fault that passes: see
    `completion_oracle`.
    """

    wire: str = DEFAULT_WIRE
    tools: Mapping[str, Mapping[str, Json]] = msgspec.field(default_factory=lambda: TOOLS)
    max_rounds: int = 3
    max_messages: int = 5
    max_turns: int = 8
    damaged: bool = True
    bursts: bool = True
    cancels: bool = True
    pushed: bool = False
    approvals: bool = False
    children: bool = False
    windows: bool = True
    spirals: bool = True
    odd: bool = True
    faults: tuple[str, ...] = ()
    mean_faults: float = 1.0
    kills: bool = True
    limits: Limits = LIMITS


STANDARD = Options()

BENIGN_ONE_IN = 6
"""One in this number of scenarios is benign."""

BENIGN_MEAN_FAULTS = 0.8
"""Faults drawn for a benign scenario on average; one of them stays, and fires once."""


def scenario_of(choose: Choose, options: Options = STANDARD) -> Scenario:
    """Return a whole scenario; a benign one expects an answer to each message."""
    is_benign = choose(BENIGN_ONE_IN) == BENIGN_ONE_IN - 1
    return benign_scenario(choose, options) if is_benign else _scenario(choose, options)


def benign_scenario(choose: Choose, options: Options = STANDARD) -> Scenario:
    """Return a scenario with at most one fault, which mostly passes by itself.

    If it gives no reason to fail, it expects an answer to each message.
    """
    options = msgspec.structs.replace(
        options, damaged=False, cancels=False, windows=False, spirals=False, odd=False,
        approvals=False, children=False,
        mean_faults=BENIGN_MEAN_FAULTS,
        faults=_benign_faults(options.faults, options.wire, bool(options.tools)),
    )  # fmt: skip
    scenario = _scenario(choose, options)
    return msgspec.structs.replace(scenario, expect=expected_of(scenario))


def with_due(choices: Choices, turn: int, seed: int, options: Options) -> Choices:
    """Return the choices of a scenario with the fault of this turn in place of one of its faults;
    the same choices if it has none or is benign."""
    first, *rest = choices
    if first % BENIGN_ONE_IN == BENIGN_ONE_IN - 1:
        return choices
    return (first, *with_fault_due((*rest,), turn, seed, _faults(options)))


def _faults(options: Options) -> FaultRange:
    return FaultRange(
        patterns=options.faults,
        wire=options.wire,
        tools=bool(options.tools),
        kills=options.kills,
        mean=options.mean_faults,
        approvals=options.approvals,
    )


@cache
def _benign_faults(patterns: tuple[str, ...], wire: str, tools: bool) -> tuple[str, ...]:
    found = matching(patterns, wire, tools, kills=False)
    return tuple(fault.kind for fault in found if fault.kind in PASSING | TOO_LONG)


def _scenario(choose: Choose, options: Options) -> Scenario:
    """Draw session, inbox, script, tools, faults, dialect, stream and window."""
    struck = faults_of(choose, _faults(options))
    struck = struck if options.odd else once(struck)
    hindered = any(layer_of(spec) in BLOCKING_LAYERS for spec in struck)
    inbox = inbox_of(
        choose,
        options.max_messages,
        bursts=options.bursts,
        cancels=options.cancels,
        is_answered=not hindered,
        pushed=options.pushed,
    )
    session = Session(messages=session_of(choose, options.max_rounds, options.damaged))
    script = script_of(
        choose, options.max_turns, options.wire, spirals=options.spirals, odd=options.odd
    )
    script = _with_a_call(script, struck, options.tools)
    children = children_of(choose) if options.children else NONE
    script = with_children(script, children)
    tools = tools_of(choose, options.tools, approvals=options.approvals)
    dialect = pick(choose, record(options.wire).dialects.generated)
    stream = bool(choose(2)) or any(layer_of(spec) == "sse" for spec in struck)
    window = _window(choose, options, struck, dialect)
    if window is None and not struck and options.tools:
        inbox, script, tools = _beside_tools(inbox, script, tools, options.pushed)
    return Scenario(
        name=NAME,
        wire=sys.intern(options.wire),  # a file leaves a default out by identity, also in a worker
        session=session,
        inbox=(*inbox, *([LAST_MESSAGE] * hindered), *children.messages),
        script=script,
        tools={**tools, **children.tools},
        faults=(*reachable(struck, options.wire, stream), *children.faults(stream, options.kills)),
        dialect=dialect,
        stream=stream,
        window_tokens=window,
        limits=options.limits,
    )


def _beside_tools(
    inbox: tuple[InboxItem, ...],
    script: tuple[Turn, ...],
    tools: dict[str, ToolScript],
    pushed: bool,
) -> tuple[tuple[InboxItem, ...], tuple[Turn, ...], dict[str, ToolScript]]:
    """Let what comes in the middle of a turn come after the first tool. Nothing keeps the model
    from a tool here, so that is certain to come. If each call needs an approval, the user allows
    the first one."""
    moved, first = beside_tools(inbox, pushed), WORK.use or str(WORK.blocks[0]["name"])
    if moved == inbox or first not in tools:
        return inbox, script, tools
    if all(tool.approval for tool in tools.values()):
        tool = tools[first]
        allowed = msgspec.structs.replace(tool, approval=(ApprovalTurn(), *tool.approval))
        tools = {**tools, first: allowed}
    return (*moved, LAST_MESSAGE), (WORK, *script), tools


def _with_a_call(
    script: tuple[Turn, ...], struck: Sequence[FaultSpec], tools: Collection[str]
) -> tuple[Turn, ...]:
    """Let the model begin with a call if a fault waits for one, and none of its turns has one."""
    is_called = any(name in tools for turn in script for name, _ in calls_of(turn))
    if is_called or CALL.use not in tools or not _strikes(struck, "tool"):
        return script
    return (CALL, *script)


def _strikes(struck: Sequence[FaultSpec], place: str) -> bool:
    return any(spec.on == place for spec in struck)


def _window(
    choose: Choose, options: Options, struck: Sequence[FaultSpec], dialect: str
) -> int | None:
    """Return the window: none if a fault may hide a refusal, not tiny if refusals have no sizes.

    A fault of compactions has one, for without it an agent seldom compacts.
    """
    hides = any(layer_of(spec) in ANSWER_LAYERS and spec.on != "compact" for spec in struck)
    if not options.windows or hides:
        return None
    window = pick(choose, SMALL_WINDOWS if _strikes(struck, "compact") else WINDOWS)
    is_untold = dialect in record(options.wire).dialects.untold
    return max(window, SMALLEST_UNTOLD_WINDOW) if window and is_untold else window
