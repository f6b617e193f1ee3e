"""Children of the reference agent that work in the background, beside each other."""

from __future__ import annotations

import msgspec

from harness import FaultSpec, InboxItem, Scenario, Turn, run
from harness.agent import agent
from harness.checks.children import child_result
from harness.core.scenario.scenario import RequestText
from tests.checks.histories import codes

PROMPTS = "Count the frogs of the north pond.", "Count the frogs of the south pond."
FROGS = "There are forty-one frogs on the stones of the eastern bank."


def beside(
    *said: Turn, faults: tuple[FaultSpec, ...] = (), messages: int = 2, gap_ms: int = 86_400_000
) -> list[str]:
    """The findings of the reference agent, whose children work in the background and say this."""
    begun = [
        Turn(use="task", input={"prompt": prompt, "background": True, "description": "Ponds"})
        for prompt, _ in zip(PROMPTS, said, strict=False)
    ]
    own = [
        msgspec.structs.replace(turn, when=RequestText(has=prompt, lacks="Ponds"))
        for prompt, turn in zip(PROMPTS, said, strict=False)
    ]
    own *= 2
    script = [
        turn for parent in (*begun, *[Turn(say="I see.")] * messages) for turn in (parent, *own)
    ]
    drawn = Scenario(
        name="ponds",
        policy="open",
        inbox=tuple(
            InboxItem(id=f"m{n}", text=f"Message {n}", when={"ms": n * gap_ms})
            for n in range(messages)
        ),
        script=tuple(script),
        faults=faults,
    )
    return codes(child_result(run(drawn, agent, options={"background": "queue"}).history))


def test_an_answer_on_its_way_is_no_end_yet() -> None:
    late = FaultSpec(kind="transport.latency", on="child", settings={"wait_s": 50.0})
    for gap_ms in (10_000, 100_000):
        assert beside(Turn(say=FROGS), faults=(late,), gap_ms=gap_ms) == []


def test_of_two_children_that_say_the_same_each_notice_is_of_either() -> None:
    cut = Turn(say="There are forty-one frogs on the", stop="max_tokens")
    assert beside(cut, cut) == []
