"""Ten turns with tools, killed at every write; and a model that follows the conversation."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.history.past import Past
from harness.core.scenario.scenario import Expect, InboxItem, Limits, Scenario, ToolScript, ToolTurn
from harness.core.values.calls import Call
from harness.core.values.messages import Text, ToolUse
from harness.core.values.plans import Reply

TURNS = 10
TOOLS = {1: "pay", 3: "look", 4: "pay", 5: "look", 7: "pay", 8: "look", 10: "pay"}
"""Which of the turns call a tool, and which one."""

_SUM = {
    "type": "object",
    "properties": {"order": {"type": "string"}},
    "required": ["order"],
}

SESSION = Scenario(
    name="ten-turns",
    tools={
        "pay": ToolScript(
            description="Pay an order",
            input_schema=_SUM,
            script=(ToolTurn(ok="paid", effect="payment", times="forever"),),
        ),
        "look": ToolScript(
            description="Look at an order",
            input_schema=_SUM,
            script=(ToolTurn(ok="it is on its way", times="forever"),),
        ),
    },
    inbox=tuple(InboxItem(id=f"m{n}", text=f"Order {n}, please.") for n in range(1, TURNS + 1)),
    limits=Limits(real_s=60),
    expect=Expect(must=("effect_once", "outbound_once", "inbound_exactly_once")),
)


class ByConversation:
    """Calls the turn's tool once, and says in the end what came of it."""

    def reply(self, call: Call, past: Past) -> tuple[Reply, int]:
        """What the model says to the last message."""
        last = call.messages[-1]
        order = next(m.text for m in reversed(call.messages) if m.text.startswith("Order "))
        number = int(order.split()[1].strip(",."))
        if last.tool_results:
            unknown = any(result.is_error for result in last.tool_results)
            said = "I do not know whether that was done" if unknown else "Done"
            return Reply((Text(f"{said}: order {number}."),)), 0
        if number in TOOLS:
            use = ToolUse(f"toolu_{call.key}", TOOLS[number], {"order": str(number)})
            return Reply((use,), "tool_use"), 0
        return Reply((Text(f"Noted: order {number}."),)), 0

    def unplayed(self, past: Past) -> Iterator[str]:
        """Nothing is owed."""
        yield from ()
