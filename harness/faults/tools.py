"""Tool faults: a working tool fails on its way, or answers something unexpected.

An effect precedes the answer, so each fault says whether it happens. In process a tool shares
memory with its agent, and can change arguments and results. Over HTTP they are copies.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Answer, Close, Effect, Kill, Plan, Raise, ToolAnswer, Wait
from harness.core.values.strict import Seconds
from harness.faults.shared.pieces import ms

STAGE = "value"
SEAMS = ("tool",)
KILLS = ("kills_agent",)
# Smaller than usual: at its usual size it takes long, or exceeds the limits of a run.
DRAWN = {
    **dict.fromkeys(("huge", "image_too_big"), ({"size_bytes": 20_000},)),
    "many_parts": ({"count": 200},),
    # `Tool.call` promises a text or blocks: an agent need not expect bytes or an iterator.
    **dict.fromkeys(("not_utf8", "endless"), ()),
}


def not_utf8(moment: Moment, plan: Plan) -> Plan:
    """The tool returns bytes that are not UTF-8."""
    return _answering(plan, _text_of(plan).encode("utf-8", "replace") + b"caf\xe9 \xff\xfe")


MAX_BYTES = 100_000_000

Bytes = Annotated[int, msgspec.Meta(ge=1, le=MAX_BYTES)]

Parts = Annotated[int, msgspec.Meta(ge=1, le=100_000)]


def huge(moment: Moment, plan: Plan, *, size_bytes: Bytes = 1_000_000) -> Plan:
    """The tool, or a sub-agent, returns a text of `size_bytes`; escalating, twice as much, at most
    400,000."""
    # A campaign's results grew to 100 MB. A million characters cost the checks a second each time.
    return _answering(plan, "x" * moment.grown(size_bytes, 400_000))


def many_parts(moment: Moment, plan: Plan, *, count: Parts = 10_000) -> Plan:
    """The tool returns `count` small content blocks."""
    return _answering(plan, [{"type": "text", "text": f"line {n}"} for n in range(count)])


def endless(moment: Moment, plan: Plan) -> Plan:
    """The tool returns an iterator of texts that has no end; over HTTP, one piece of it."""
    return (*_effects(plan), Answer(ToolAnswer("and so on\n", how="endless")))


def image_too_big(moment: Moment, plan: Plan, *, size_bytes: Bytes = 7_000_000) -> Plan:
    """The tool returns one image whose base64 text has `size_bytes`: by default more than the 5 MiB
    that providers take."""
    return _answering(plan, [_image(_DOT[:_HEAD].ljust(size_bytes // 4 * 4, "A"))])


def many_images(moment: Moment, plan: Plan, *, count: Parts = 120) -> Plan:
    """The tool returns `count` small images."""
    return _answering(plan, [_image(_DOT) for _ in range(count)])


def _image(data: str) -> dict[str, Json]:
    source: dict[str, Json] = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


_DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
"""A PNG of one pixel."""

_HEAD = 32
"""Up to the size in pixels: some frameworks, as agno, drop a picture that does not begin as one."""

PARTIAL = "Error: the connection broke after a part of it was done."


def answer_lost(moment: Moment, plan: Plan) -> Plan:
    """The effect happens and the answer is lost: the agent sees a time-out."""
    return (*_effects(plan), Raise("timeout", "the tool did not answer in time"))


def server_dies(moment: Moment, plan: Plan) -> Plan:
    """The effect happens and the tool's server dies before it answers: the connection is reset."""
    return (*_effects(plan), Close(reset=True))


def effect_twice(moment: Moment, plan: Plan) -> Plan:
    """The tool's backend does everything twice, by itself, and answers once."""
    return (*_effects(plan), *plan) if _effects(plan) else plan


def partial_effect(moment: Moment, plan: Plan) -> Plan:
    """A part of the effect happens, and the tool reports an error."""
    parts = tuple(
        msgspec.structs.replace(step, name=f"{step.name} in part")
        for step in plan
        if isinstance(step, Effect)
    )
    return _answering(parts, PARTIAL, is_error=True) if parts else plan


def kills_agent(moment: Moment, plan: Plan, *, effect: str = "restart") -> Plan:
    """The tool restarts the agent that calls it: the effect happens, the agent gets no result."""
    return (*_effects(plan), Effect(effect), Kill())


UNAPPROVED = "The request for approval was not answered; nothing was done."


def late(moment: Moment, plan: Plan, *, wait_s: Seconds = 3600.0) -> Plan:
    """The tool answers only after `wait_s` seconds; escalating, twice as many each time.

    An agent that gives up before does not stop it: its effect happens all the same.
    """
    return (Wait(ms(wait_s * moment.harder)), *plan)


def never_returns(moment: Moment, plan: Plan, *, wait_s: Seconds | None = None) -> Plan:
    """The effect happens, and the tool does not answer for `wait_s` seconds (default: no end)."""
    return (*_effects(plan), Wait(ms(wait_s)), Raise("timeout", "the tool does not answer"))


def approval_never(moment: Moment, plan: Plan, *, wait_s: Seconds = 8 * 3600.0) -> Plan:
    """The tool asks the user for approval, who is away: after `wait_s` seconds it is an error."""
    return (Wait(ms(wait_s)), Answer(ToolAnswer(UNAPPROVED, is_error=True)))


def result_of_another_call(moment: Moment, plan: Plan) -> Plan:
    """The tool answers with a result block that names another call."""
    block = {"type": "tool_result", "tool_use_id": "toolu_of_another", "content": _text_of(plan)}
    return _answering(plan, [block])


def result_twice(moment: Moment, plan: Plan) -> Plan:
    """The tool's answer comes twice in one."""
    part = {"type": "text", "text": _text_of(plan) or "done"}
    return _answering(plan, [part, part])


def _effects(plan: Plan) -> Plan:
    """What the tool does to the outside world, without what it says."""
    return tuple(step for step in plan if isinstance(step, Effect))


def _answering(plan: Plan, content: Json, *, is_error: bool = False) -> Plan:
    """The tool does what it does, and answers this."""
    return (*_effects(plan), Answer(ToolAnswer(content, is_error)))


def _text_of(plan: Plan) -> str:
    """What the tool says in words; "" where it says nothing, or no text."""
    values = (step.value for step in plan if isinstance(step, Answer))
    content = next((v.content for v in values if isinstance(v, ToolAnswer)), "")
    return content if isinstance(content, str) else ""


def _answers(moment: Moment, plan: Plan, *, content: Json) -> Plan:
    """A template of presets: the tool does what it does, and answers this."""
    return _answering(plan, content)


def _adds(moment: Moment, plan: Plan, *, text: str) -> Plan:
    """A template of presets: the tool does what it does, and its own text goes on with this."""
    return _answering(plan, _text_of(plan) + text)


def _says(
    moment: Moment, plan: Plan, *, message: str, prefix: str = "", is_error: bool = False
) -> Plan:
    """A template of presets: the tool does nothing, and answers this."""
    return (Answer(ToolAnswer(prefix + message, is_error)),)


def _keeps(moment: Moment, plan: Plan, *, how: Literal["input_changed", "changed_later"]) -> Plan:
    """A template of presets: the tool keeps what it was given or returned, and changes it."""
    return (*_effects(plan), Answer(ToolAnswer(_text_of(plan), how=how)))
