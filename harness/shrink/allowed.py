"""What no candidate may be, whatever the target makes of it.

One that the loader refuses. One that is odd in a way in which the scenario was not: a session with
open calls, a message without a word. Agents have their own trouble with such things, and the
finding would be another one behind the same name.
"""

from __future__ import annotations

from harness.core.scenario.scenario import InboxItem, Scenario, SeedMessage, Turn
from harness.files.mistakes import mistakes_in
from harness.shrink.measure import turns_of
from harness.shrink.stored import is_whole


def is_allowed(candidate: Scenario, before: Scenario) -> bool:
    """Whether a candidate can be a file, and is no odder than the scenario that it is made of."""
    if blanks(candidate) > blanks(before):
        return False
    if is_whole(before.session.messages) and not is_whole(candidate.session.messages):
        return False
    return next(mistakes_in(candidate), None) is None


def blanks(scenario: Scenario) -> int:
    """How many turns and messages say nothing."""
    turns = sum(map(_is_blank_turn, turns_of(scenario)))
    stored = sum(map(_is_blank_message, scenario.session.messages))
    return turns + stored + sum(map(_is_blank_item, scenario.inbox))


def _is_blank_turn(turn: Turn) -> bool:
    return not turn.blocks and turn.use is None and not (turn.say or "").strip()


def _is_blank_message(message: SeedMessage) -> bool:
    content = message.content
    return not (content.strip() if isinstance(content, str) else content)


def _is_blank_item(item: InboxItem) -> bool:
    return item.kind == "message" and not item.text.strip()
